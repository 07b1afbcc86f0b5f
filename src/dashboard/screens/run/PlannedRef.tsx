import type { Run } from "../../api/Types.ts"
import { PullRequestLink } from "./PullRequestLink.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"

const commits = (count: number | undefined) =>
  count === undefined ? "newer commits" : `${count} newer ${count === 1 ? "commit" : "commits"}`
const commitsJa = (count: number | undefined) => (count === undefined ? "新しいコミット" : `新しいコミット ${count} 件`)

const en = {
  speculative:
    "This plan only shows the changes of its ref. It is never applied, and it does not affect the capsule. Only its change can be approved.",
  current: (ref: string) => `The ref contains the newest commit of ${ref}.`,
  behind: (ref: string, count: number | undefined) =>
    `${ref} has ${commits(count)}, which change no files of this module.`,
  stale: (ref: string, count: number | undefined) => `${ref} has ${commits(count)}, which this plan would undo`,
  staleText: "These files of the module have newer contents there. Update the branch and plan it again.",
  more: (count: number) => `and ${count} more`,
  unknown: (ref: string) => `svc could not determine the newer commits of ${ref}.`
}

const ja: typeof en = {
  speculative:
    "このプランは ref による変更内容を示すだけです。適用の対象にはならず、カプセルにも影響しません。承認できるのは変更の内容だけです。",
  current: (ref) => `この ref には ${ref} の最新のコミットが含まれています。`,
  behind: (ref, count) => `${ref} に${commitsJa(count)}がありますが、このモジュールのファイルは変更されていません。`,
  stale: (ref, count) => `${ref} に${commitsJa(count)}があり、このプランはその変更を元に戻します`,
  staleText:
    "モジュールの次のファイルは、そちらの内容のほうが新しくなっています。ブランチを更新してから、もう一度プランしてください。",
  more: (count) => `ほか ${count} 件`,
  unknown: (ref) => `${ref} に新しいコミットがあるかどうかを確認できませんでした。`
}

export const plannedRefWords = { en, ja }

const Base = ({ base }: { readonly base: NonNullable<Run["base"]> }) => {
  const words = useWords(plannedRefWords)
  const { behind, ref, standing, undoneFileCount = 0, undoneFiles = [] } = base
  if (standing !== "stale") {
    return <p className="muted">{standing === "behind" ? words.behind(ref, behind) : words[standing](ref)}</p>
  }
  const more = undoneFileCount - undoneFiles.length
  return (
    <Notice tone="warn" title={words.stale(ref, behind)}>
      <p>{words.staleText}</p>
      <ul className="plain-list">
        {undoneFiles.map((file) => (
          <li key={file}>
            <code>{file}</code>
          </li>
        ))}
        {more > 0 ? <li className="muted">{words.more(more)}</li> : null}
      </ul>
    </Notice>
  )
}

/** Describes a plan of a ref other than the Capsule's lane: the effect of the plan, and later commits on the lane. */
export const PlannedRef = ({ run }: { readonly run: Run }) => {
  const words = useWords(plannedRefWords)
  return (
    <div data-testid="planned-ref" className="stack">
      {run.speculative === true ? <p>{words.speculative}</p> : null}
      {run.pullRequestId === undefined ? null : <PullRequestLink id={run.pullRequestId} />}
      {run.base === undefined ? null : <Base base={run.base} />}
    </div>
  )
}
