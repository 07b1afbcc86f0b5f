import { useQuery } from "@tanstack/react-query"
import { type ReactNode, useId, useState } from "react"
import { call } from "../../api/Call.ts"
import type { Answer } from "../../api/Declarations.ts"
import { sourcesRevisions } from "../../api/Endpoints.ts"
import type { Capsule } from "../../api/Types.ts"
import { CommitLine } from "../../ui/Commit.tsx"
import { FaultNotice, Skeleton } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { shortCommit } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { useRevisionPlan } from "./UseRevisionPlan.ts"
import { capsuleWords } from "./Words.ts"

const en = {
  branches: "Branches",
  tags: "Tags",
  commits: (ref: string) => (ref === "HEAD" ? "Newest commits" : `Newest commits of ${ref}`),
  applied: "applied",
  nothing: "Nothing listed here has this text. It is planned as you wrote it.",
  truncated: "The repository has more branches or tags. Write the name of one that is not listed."
}

const ja: typeof en = {
  branches: "ブランチ",
  tags: "タグ",
  commits: (ref: string) => (ref === "HEAD" ? "最近のコミット" : `${ref} の最近のコミット`),
  applied: "適用済み",
  nothing: "一覧に該当するものはありません。入力したとおりにプランします。",
  truncated: "ほかにもブランチやタグがあります。一覧にないものは名前を入力してください。"
}

export const revisionWords = { en, ja }

type Revisions = Answer<typeof sourcesRevisions>["revisions"]

interface Choice {
  readonly ref: string
  readonly shown: ReactNode
  /** The text that the filter searches. */
  readonly text: string
}

const named = ({ commit, name, ref }: Revisions["branches"][number], applied: ReactNode): Choice => ({
  ref,
  shown: (
    <>
      <bdi>{name}</bdi> <code className="muted">{shortCommit(commit)}</code>
      {applied}
    </>
  ),
  text: `${name} ${commit}`
})

interface GroupProps {
  readonly title: string
  readonly choices: ReadonlyArray<Choice>
  readonly chosen: string
  readonly onChoose: (ref: string) => void
}

const Group = ({ title, choices, chosen, onChoose }: GroupProps) => {
  const name = useId()
  if (choices.length === 0) return null
  return (
    <fieldset className="choices">
      <legend>{title}</legend>
      {choices.map(({ ref, shown }) => (
        <label key={ref} className="choice">
          <input type="radio" name={name} value={ref} checked={ref === chosen} onChange={() => onChoose(ref)} />
          <span>{shown}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** Plans a branch, tag or commit of the repository, chosen from a list or entered by name. */
export const PlanRevision = ({ capsule, onClose }: { readonly capsule: Capsule; readonly onClose: () => void }) => {
  const words = useWords(capsuleWords)
  const text = useWords(revisionWords)
  const [typed, setTyped] = useState("")
  const [ref, setRef] = useState("")
  const plan = useRevisionPlan(capsule.id, onClose)
  const followed = capsule.adoptedSourceRevision?.ref
  const applied = capsule.adoptedSourceRevision?.resolvedCommit
  const { data, error } = useQuery({
    queryKey: ["revisions", capsule.sourceId, followed],
    queryFn: ({ signal }) =>
      call(sourcesRevisions, {
        signal,
        params: { sourceId: capsule.sourceId },
        body: followed === undefined ? {} : { ref: followed }
      }).then(({ revisions }) => revisions),
    retry: false,
    staleTime: 10_000
  })
  const isApplied = (commit: string) => (commit === applied ? <span className="tag">{text.applied}</span> : null)
  const wanted = typed.trim().toLowerCase()
  // Filters the list by the typed text, not by the chosen value.
  const shown = (choices: ReadonlyArray<Choice>) =>
    ref !== "" || wanted === "" ? choices : choices.filter(({ text }) => text.toLowerCase().includes(wanted))
  const groups =
    data === undefined
      ? []
      : [
          { title: text.branches, choices: shown(data.branches.map((each) => named(each, isApplied(each.commit)))) },
          { title: text.tags, choices: shown(data.tags.map((each) => named(each, isApplied(each.commit)))) },
          {
            title: text.commits(followed ?? "HEAD"),
            choices: shown(
              data.commits.map(({ commit, commitDescription }) => ({
                ref: commit,
                shown: (
                  <>
                    <CommitLine id={commit} description={commitDescription} /> {isApplied(commit)}
                  </>
                ),
                text: `${commit} ${commitDescription?.title ?? ""} ${commitDescription?.authorName ?? ""}`
              }))
            )
          }
        ]
  return (
    <FormDialog
      title={words.planRefTitle}
      action={words.plan}
      change={plan}
      onSubmit={() => plan.mutate(ref === "" ? typed.trim() : ref)}
      onClose={onClose}
    >
      <TextField
        label={words.ref}
        helper={words.planRefText}
        mono
        required
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value)
          setRef("")
        }}
      />
      {error === null ? null : <FaultNotice error={error} />}
      {data === undefined ? (
        error === null ? (
          <Skeleton rows={4} height="line" />
        ) : null
      ) : (
        <div className="choice-list">
          {groups.map(({ choices, title }) => (
            <Group
              key={title}
              title={title}
              choices={choices}
              chosen={ref}
              onChoose={(chosen) => {
                setRef(chosen)
                setTyped(chosen)
              }}
            />
          ))}
          {groups.every(({ choices }) => choices.length === 0) ? <p className="muted">{text.nothing}</p> : null}
          {data.truncated ? <p className="muted">{text.truncated}</p> : null}
        </div>
      )}
    </FormDialog>
  )
}
