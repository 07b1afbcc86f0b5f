import { Result } from "effect"
import { GitRefAmbiguous, GitRefNotFound, GitRepositoryEmpty } from "./GitError.ts"
import type { GitRef } from "../../schema/git/GitRef.ts"
import { refTarget } from "./RefTarget.ts"
import type { RemoteRef } from "./RefListing.ts"

/** `oid` is the object that the server lists; it differs from `commit` for an annotated tag. `fullRef` is absent for a commit. */
export interface ResolvedRef {
  readonly fullRef?: string
  readonly commit: string
  readonly oid: string
}

/** The prefixes to request from a server. */
export const refPrefixes = (ref: GitRef): ReadonlyArray<string> => {
  const target = refTarget(ref)
  switch (target._tag) {
    case "head":
    case "commit":
      return ["HEAD"]
    case "full":
      return [target.name]
    case "short":
      return target.candidates
  }
}

const found = (remote: RemoteRef): ResolvedRef => ({
  fullRef: remote.name === "HEAD" ? (remote.target ?? "HEAD") : remote.name,
  commit: remote.commit,
  oid: remote.oid
})

/** Picks exactly one ref from a listing made with `refPrefixes`; refuses to guess between a branch and a tag. */
export const resolveRef = (
  ref: GitRef,
  listed: ReadonlyArray<RemoteRef>
): Result.Result<ResolvedRef, GitRefNotFound | GitRefAmbiguous | GitRepositoryEmpty> => {
  const target = refTarget(ref)
  if (target._tag === "commit") return Result.succeed({ commit: target.commit, oid: target.commit })
  const names = refPrefixes(ref)
  const matches = listed.filter((remote) => names.includes(remote.name))
  const [match, ...others] = matches
  if (match === undefined) {
    if (target._tag === "head")
      return Result.fail(
        new GitRepositoryEmpty({
          message: "The repository has no commits, or its default branch does not exist. Push one, or name a ref."
        })
      )
    return Result.fail(new GitRefNotFound({ ref, message: `The repository has no branch, tag or ref named ${ref}.` }))
  }
  if (others.length > 0) {
    const candidates = matches.map((remote) => remote.name).sort()
    return Result.fail(
      new GitRefAmbiguous({
        ref,
        candidates,
        message: `${ref} is the name of more than one ref. Write the one you mean: ${candidates.join(" or ")}.`
      })
    )
  }
  return Result.succeed(found(match))
}
