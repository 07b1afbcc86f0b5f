import type { CapsuleVerdict, PullRequest } from "../../api/Types.ts"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { integer } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { pullRequestListWords } from "./Words.ts"

/** All verdicts, most urgent first. */
export const verdictOrder: ReadonlyArray<CapsuleVerdict> = [
  "failed",
  "differs",
  "needs_approval",
  "planned",
  "planning",
  "refused",
  "superseded",
  "approved",
  "applied",
  "unchanged"
]

const tones: Readonly<Record<CapsuleVerdict, StatusTone>> = {
  failed: "bad",
  differs: "attention",
  needs_approval: "attention",
  planned: "attention",
  planning: "busy",
  refused: "neutral",
  superseded: "muted",
  approved: "good",
  applied: "good",
  unchanged: "muted"
}

export const Verdict = ({ verdict }: { readonly verdict: CapsuleVerdict }) => (
  <Status tone={tones[verdict]}>{useWords(pullRequestListWords).verdicts[verdict]}</Status>
)

/** Number of Capsules that a pull request affects, by verdict. */
export const VerdictCounts = ({ counts = {} }: { readonly counts?: PullRequest["counts"] }) => {
  const words = useWords(pullRequestListWords)
  const language = useLanguage()
  const found = verdictOrder.flatMap((verdict) => {
    const count = counts[verdict] ?? 0
    return count === 0 ? [] : [[verdict, count] as const]
  })
  return found.length === 0
    ? words.untouched
    : found.map(([verdict, count]) => (
        <Status key={verdict} tone={tones[verdict]}>{`${words.verdicts[verdict]} ${integer(language, count)}`}</Status>
      ))
}

const stateTones: Readonly<Record<PullRequest["state"], StatusTone>> = { open: "busy", merged: "good", closed: "muted" }

export const PullRequestState = ({ state }: Pick<PullRequest, "state">) => (
  <Status tone={stateTones[state]}>{useWords(pullRequestListWords).states[state]}</Status>
)
