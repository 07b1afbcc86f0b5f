import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { capsulesQuery, dependenciesQuery } from "../../api/Queries.ts"
import type { Capsule, Output } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { CopyText } from "../../ui/CopyText.tsx"
import { Empty } from "../../ui/Feedback.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { structureOf } from "../../value-difference/JsonValue.ts"
import { httpsLink } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { capsuleWords } from "./Words.ts"

/**
 * Formats a structure as indented JSON, even if the module wrote it as a string. The copy button copies the original value.
 */
const shownValue = (value: unknown): string => {
  const structure = structureOf(value)
  if (structure !== undefined) return JSON.stringify(structure, null, 2)
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** Renders an `https:` address as a link, and every other value as text. */
export const OutputValue = ({ value, of }: { readonly value: unknown; readonly of: string }) => {
  const terms = useWords(vocabulary)
  const link = httpsLink(value)
  const text = shownValue(value)
  const copied = typeof value === "string" ? value : text
  if (link !== undefined) {
    return (
      <span className="output-linked">
        <a href={link} target="_blank" rel="noreferrer noopener" className="output-link">
          {text}
          <Icon name="external" />
          <span className="visually-hidden">({terms.opensNewTab})</span>
        </a>
        <CopyText text={text} shown={terms.copy} of={of} />
      </span>
    )
  }
  return text.includes("\n") ? (
    <span className="output-linked">
      <pre className="output-block">{text}</pre>
      <CopyText text={copied} shown={terms.copy} of={of} />
    </span>
  ) : (
    <CopyText text={copied} of={of} />
  )
}

interface OutputsProps {
  readonly capsule: Capsule
  readonly outputs: ReadonlyArray<Output>
  /** Names of Outputs whose values are never shown. */
  readonly hidden?: ReadonlyArray<string>
  /** Labels shown next to the names of Outputs. */
  readonly marks?: ReadonlyMap<string, string>
}

/** The Capsules that use an Output. Capsules in other Workspaces cannot be listed here. */
const Takers = ({ ids }: { readonly ids: ReadonlyArray<string> }) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const capsules = useQuery({ ...capsulesQuery(workspace.id), enabled: ids.length > 0 }).data ?? []
  return ids.length === 0 ? null : (
    <small className="muted output-takers">
      {words.takenBy}{" "}
      {ids.map((id, index) => (
        <span key={id}>
          {index === 0 ? "" : ", "}
          <Link to="/w/$workspace/capsules/$capsuleId" params={{ workspace: workspace.handle, capsuleId: id }}>
            {capsules.find((each) => each.id === id)?.name ?? id}
          </Link>
        </span>
      ))}
    </small>
  )
}

export const Outputs = ({ capsule, hidden = [], marks, outputs }: OutputsProps) => {
  const words = useWords(capsuleWords)
  const given = (useQuery(dependenciesQuery(capsule.id)).data ?? []).filter(
    ({ producerCapsuleId }) => producerCapsuleId === capsule.id
  )
  const takersOf = (name: string) => [
    ...new Set(
      given
        .filter((dependency) => dependency.outputs.some(({ from }) => from === name))
        .map(({ consumerCapsuleId }) => consumerCapsuleId)
    )
  ]
  if (outputs.length === 0 && hidden.length === 0) {
    return (
      <Empty icon="external" title={words.outputsNone}>
        <p>{words.outputsNoneText}</p>
      </Empty>
    )
  }
  return (
    <dl className="outputs">
      {outputs.map((output) => (
        <div key={output.name}>
          <dt>
            <code>{output.name}</code>
            {marks?.has(output.name) === true ? <span className="tag">{marks.get(output.name)}</span> : null}
          </dt>
          <dd>
            <OutputValue value={output.value} of={output.name} />
            <Takers ids={takersOf(output.name)} />
          </dd>
        </div>
      ))}
      {hidden.map((name) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
            {marks?.has(name) === true ? <span className="tag">{marks.get(name)}</span> : null}
          </dt>
          <dd className="muted output-hidden">
            <Icon name="lock" /> {words.outputHidden}
          </dd>
        </div>
      ))}
    </dl>
  )
}
