import { useQuery } from "@tanstack/react-query"
import { Fault } from "../../api/Fault.ts"
import { CommitLine } from "../../ui/Commit.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { type Look, lookKey } from "./UseLookedPlan.ts"

const en = {
  defaultBranch: "The default branch",
  ahead: (ref: string, count: number) => `${ref} is ${count} ${count === 1 ? "commit" : "commits"} ahead:`,
  moved: (ref: string) => `${ref} has moved to another commit:`,
  same: (ref: string) => `${ref} is still at the applied commit:`,
  first: (ref: string) => `${ref} is at this commit:`,
  unreadTitle: "The repository could not be read",
  unread: "This plan uses the newest synced commit, which may be older than the last push."
}

const ja: typeof en = {
  defaultBranch: "デフォルトブランチ",
  ahead: (ref: string, count: number) => `${ref} は ${count} コミット進んでいます:`,
  moved: (ref: string) => `${ref} は別のコミットに移動しました:`,
  same: (ref: string) => `${ref} は適用済みのコミットのままです:`,
  first: (ref: string) => `${ref} は次のコミットです:`,
  unreadTitle: "リポジトリを読み取れませんでした",
  unread: "このプランは最後に同期されたコミットを使います。最新のプッシュより古い可能性があります。"
}

export const lookWords = { en, ja }

const headOf = (
  words: typeof en,
  { commitsAhead = 0, deployedCommit, ref: followed, resolvedCommit }: Look
): string => {
  const ref = followed === "HEAD" ? words.defaultBranch : followed
  if (deployedCommit === undefined) return words.first(ref)
  if (deployedCommit === resolvedCommit) return words.same(ref)
  return commitsAhead > 0 ? words.ahead(ref, commitsAhead) : words.moved(ref)
}

/** The commit that svc found before this plan, and its distance from the applied commit. */
export const LookNotice = ({ runId }: { readonly runId: string }) => {
  const words = useWords(lookWords)
  const { data } = useQuery<Look | Fault>({ queryKey: lookKey(runId), enabled: false })
  if (data === undefined) return null
  if (data instanceof Fault || data.resolvedCommit === undefined) {
    const reason = data instanceof Fault ? data.message : data.error?.message
    return (
      <Notice tone="warn" title={words.unreadTitle}>
        <p>{words.unread}</p>
        {reason === undefined ? null : <p>{reason}</p>}
      </Notice>
    )
  }
  return (
    <Notice tone="info">
      <p data-testid="look">
        <bdi>{headOf(words, data)}</bdi> <CommitLine id={data.resolvedCommit} description={data.commitDescription} />
      </p>
    </Notice>
  )
}
