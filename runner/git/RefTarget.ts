import { Result } from "effect"
import { type GitRef, parseGitRef } from "../../schema/git/GitRef.ts"
import { isCommitRef } from "../../schema/git/RefName.ts"
import { GitRefRefused } from "./GitError.ts"

/** The object that a ref points to. */
export type GitRefTarget =
  | { readonly _tag: "head" }
  | { readonly _tag: "commit"; readonly commit: string }
  | { readonly _tag: "full"; readonly name: string }
  | { readonly _tag: "short"; readonly candidates: ReadonlyArray<string> }

export const refTarget = (ref: GitRef): GitRefTarget => {
  if (ref === "HEAD") return { _tag: "head" }
  if (isCommitRef(ref)) return { _tag: "commit", commit: ref }
  if (ref.startsWith("refs/")) return { _tag: "full", name: ref }
  const qualified = /^(?:heads|tags)\//.test(ref) ? [`refs/${ref}`] : []
  return { _tag: "short", candidates: [`refs/heads/${ref}`, `refs/tags/${ref}`, ...qualified] }
}

/** A ref from a stored record, which may predate the ref grammar. */
export const storedRef = (text: string): Result.Result<GitRef, GitRefRefused> =>
  Result.mapError(parseGitRef(text), (message) => new GitRefRefused({ message }))
