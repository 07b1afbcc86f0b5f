import { Result, Schema } from "effect"
import { GitRefRefused } from "./GitError.ts"

/** `HEAD`, a full ref, a short branch or tag name, or a commit of 40 lower-case hex digits. Only `parseGitRef` makes one. */
export const GitRef = Schema.String.pipe(Schema.brand("GitRef"))
export type GitRef = typeof GitRef.Type

const maxBytes = 255
const forbidden = /[\s\p{Cc}\p{Cf}\p{Cs}~^:?*[\\]/u
const commitId = /^[0-9a-f]{40}$/i

const isComponent = (component: string) =>
  component !== "" && !component.startsWith(".") && !component.endsWith(".lock") && !component.endsWith(".")

/** Git's own rules for ref names (`git check-ref-format`), less names that look like an option. */
const isRefName = (text: string) =>
  Buffer.byteLength(text) <= maxBytes &&
  !forbidden.test(text) &&
  !text.startsWith("-") &&
  !text.includes("..") &&
  !text.includes("@{") &&
  text !== "@" &&
  text.split("/").every(isComponent)

/** Reads a ref as a user gives it. */
export const parseGitRef = (text: string): Result.Result<GitRef, GitRefRefused> => {
  if (commitId.test(text)) return Result.succeed(GitRef.make(text.toLowerCase()))
  if (isRefName(text) && (!text.startsWith("refs/") || text.split("/").length > 2))
    return Result.succeed(GitRef.make(text))
  return Result.fail(
    new GitRefRefused({
      message:
        "The ref is not one Git allows. Give a branch, a tag, a full ref such as refs/heads/main, a commit of 40 hex digits, or HEAD."
    })
  )
}

/** What a ref asks for. */
export type GitRefTarget =
  | { readonly _tag: "head" }
  | { readonly _tag: "commit"; readonly commit: string }
  | { readonly _tag: "full"; readonly name: string }
  | { readonly _tag: "short"; readonly candidates: ReadonlyArray<string> }

export const refTarget = (ref: GitRef): GitRefTarget => {
  if (ref === "HEAD") return { _tag: "head" }
  if (commitId.test(ref)) return { _tag: "commit", commit: ref }
  if (ref.startsWith("refs/")) return { _tag: "full", name: ref }
  const qualified = /^(?:heads|tags)\//.test(ref) ? [`refs/${ref}`] : []
  return { _tag: "short", candidates: [`refs/heads/${ref}`, `refs/tags/${ref}`, ...qualified] }
}
