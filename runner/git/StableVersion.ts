import { Result } from "effect"
import { GitNoStableVersion, GitVersionAmbiguous } from "./GitError.ts"

/** A ref on the server. `commit` is peeled if the ref is an annotated tag. */
export interface ListedRef {
  readonly name: string
  readonly oid: string
  readonly commit: string
}

export interface StableVersion {
  readonly tag: string
  readonly commit: string
  /** `X.Y.Z` */
  readonly version: string
}

/**
 * Matches numbers without leading zeros. Their length is limited, because not every file system can store a tag name longer than
 * 255 characters.
 */
const stableTag = /^refs\/tags\/(v?(0|[1-9][0-9]{0,254})\.(0|[1-9][0-9]{0,254})\.(0|[1-9][0-9]{0,254}))$/

interface Candidate extends StableVersion {
  readonly numbers: readonly [bigint, bigint, bigint]
}

const parseTag = (ref: ListedRef): Candidate | undefined => {
  const [, tag, major, minor, patch] = stableTag.exec(ref.name) ?? []
  if (tag === undefined || major === undefined || minor === undefined || patch === undefined) return undefined
  return {
    tag,
    commit: ref.commit,
    version: `${major}.${minor}.${patch}`,
    numbers: [BigInt(major), BigInt(minor), BigInt(patch)]
  }
}

const compare = (a: Candidate, b: Candidate): number => {
  for (const index of [0, 1, 2] as const) {
    if (a.numbers[index] !== b.numbers[index]) return a.numbers[index] < b.numbers[index] ? -1 : 1
  }
  return 0
}

/**
 * Picks the newest `vX.Y.Z` or `X.Y.Z` tag. Ignores prereleases, build metadata and other spellings. Two spellings of the newest
 * version are ambiguous; two spellings of an older version are harmless.
 */
export const newestStableVersion = (
  refs: ReadonlyArray<ListedRef>
): Result.Result<StableVersion, GitNoStableVersion | GitVersionAmbiguous> => {
  let newest: Array<Candidate> = []
  for (const ref of refs) {
    const candidate = parseTag(ref)
    if (candidate === undefined) continue
    const [best] = newest
    const order = best === undefined ? 1 : compare(candidate, best)
    if (order > 0) newest = [candidate]
    else if (order === 0) newest.push(candidate)
  }
  const [best, ...others] = newest
  if (best === undefined)
    return Result.fail(
      new GitNoStableVersion({
        message:
          "The repository has no stable version tag such as v1.2.3 or 1.2.3. Name a branch, tag or commit instead."
      })
    )
  if (others.length > 0) {
    const tags = newest.map((candidate) => candidate.tag).sort()
    return Result.fail(
      new GitVersionAmbiguous({
        version: best.version,
        tags,
        message: `Version ${best.version} is tagged twice: ${tags.join(" and ")}. Name one of the tags.`
      })
    )
  }
  return Result.succeed({ tag: best.tag, commit: best.commit, version: best.version })
}
