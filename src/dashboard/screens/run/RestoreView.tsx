import type { Run } from "../../api/Types.ts"
import { Facts, Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { planWords } from "./PlanWords.ts"
import { restoreWords } from "./RestoreWords.ts"

type Restore = NonNullable<Run["restore"]>

/** The changes that a restore makes, for its reviewers. */
export const RestoreView = ({ restore }: { readonly restore: Restore }) => {
  const words = useWords(restoreWords)
  const plans = useWords(planWords)
  const standing = (state: Restore["restored"]) => words.standing(state.generation, state.serial, state.resourceCount)
  return (
    <Panel title={words.title} about={words.about}>
      <Facts
        items={[
          [words.backup, <Time key="at" at={restore.backupCreatedAt} />],
          [`${words.state} · ${words.now}`, restore.current === undefined ? words.noState : standing(restore.current)],
          [`${words.state} · ${words.restored}`, standing(restore.restored)],
          [words.next, words.nextStanding(restore.next.generation, restore.next.serial)],
          ...restore.pointers.map(
            ({ current, name, restored }) =>
              [
                words.pointer[name],
                <span key={name}>
                  <code>{current ?? "–"}</code> → <code>{restored ?? "–"}</code>
                </span>
              ] as const
          )
        ]}
      />
      <h3>{words.configuration}</h3>
      {restore.configuration.length === 0 ? (
        <p className="muted">{words.same}</p>
      ) : (
        <ul className="plain-list">
          {restore.configuration.map(({ change, kind, name }) => (
            <li key={`${kind} ${name}`}>
              {words.kind[kind]} <code>{name}</code> {words.change[change]}
            </li>
          ))}
        </ul>
      )}
      {restore.outputs === undefined ? null : (
        <ul className="plain-list">
          {restore.outputs.map(({ name, publication }) => (
            <li key={name}>
              {words.kind.output} <code>{name}</code>{" "}
              {plans.publication[publication.change](plans.publicationReasons[publication.reason])}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
