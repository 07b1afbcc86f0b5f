import { Effect } from "effect"
import { createHash } from "node:crypto"
import * as nodeFs from "node:fs"
import {
  type GitError,
  type GitLimitExceeded,
  GitProtocolBroken,
  GitRefNotFound,
  GitRepositoryEmpty
} from "./GitError.ts"
import { type GitObjectSource, type GitObjectType, missingObject } from "./GitObjects.ts"
import type { GitTransport } from "./GitTransport.ts"
import { type PackBounds, refusedPack } from "./PackBounds.ts"
import type { GitAddress } from "../../schema/git/GitAddress.ts"

export interface FetchRequest {
  readonly url: GitAddress
  /** The object to fetch, as the server listed it for the ref. */
  readonly oid: string
  /** A folder that does not exist yet. */
  readonly gitdir: string
  /** Called whenever the transfer makes progress. */
  readonly onProgress: (phase: string, percent: number) => void
}

/**
 * Load the library on the first fetch: loading it takes a tenth of the run time of a short command, and few processes fetch
 * anything.
 */
const isomorphicGit = Effect.promise(() => import("isomorphic-git"))

const trailerBytes = 20

const notHandedOut = (oid: string) =>
  new GitRefNotFound({
    ref: oid,
    message: `The Git server does not hand out the commit ${oid}. Name a branch or tag that points to it.`
  })

const fetchFailure = (request: FetchRequest, transport: GitTransport, isNotFound: boolean): GitError => {
  const known = transport.failure()
  if (known !== undefined) return known
  if (isNotFound) return notHandedOut(request.oid)
  return new GitProtocolBroken({ message: "The Git server sent data that is not a valid Git answer." })
}

/** Checks the hash at the end of a pack, because isomorphic-git does not. */
const verifyPack = Effect.fnUntraced(function* (packs: ReadonlyArray<string>) {
  for (const path of packs) {
    const pack = yield* Effect.sync(() => nodeFs.readFileSync(path))
    const content = pack.subarray(0, pack.length - trailerBytes)
    const trailer = pack.subarray(content.length).toString("hex")
    if (createHash("sha1").update(content).digest("hex") !== trailer)
      return yield* new GitProtocolBroken({ message: "The Git server sent a pack with a wrong checksum." })
  }
})

const objectType = (type: string): GitObjectType | undefined =>
  type === "commit" || type === "tree" || type === "blob" || type === "tag" ? type : undefined

/** Creates a file system that refuses to write a pack beyond its limits. isomorphic-git stores a pack before it unpacks it. */
const boundedDisk = (bounds: PackBounds) => {
  let refused: GitLimitExceeded | GitProtocolBroken | undefined
  const writeFile: typeof nodeFs.promises.writeFile = async (path, data, options) => {
    const found = String(path).endsWith(".pack") && Buffer.isBuffer(data) ? await refusedPack(data, bounds) : undefined
    refused ??= found
    if (refused !== undefined) throw refused
    return nodeFs.promises.writeFile(path, data, options)
  }
  return { fs: { promises: { ...nodeFs.promises, writeFile } }, refused: () => refused }
}

/** Fetches one commit without history into a bare repository on disk, using isomorphic-git. */
export const fetchIsomorphic = Effect.fn("fetchIsomorphic")(function* (
  transport: GitTransport,
  request: FetchRequest,
  bounds: PackBounds
): Effect.fn.Return<GitObjectSource, GitError> {
  const git = yield* isomorphicGit
  const disk = boundedDisk(bounds)
  const at = { fs: disk.fs, gitdir: request.gitdir }
  const fetched = yield* Effect.tryPromise({
    try: async () => {
      await git.init({ ...at, bare: true })
      await git.addRemote({ ...at, remote: "origin", url: request.url })
      return git.fetch({
        ...at,
        http: transport,
        url: request.url,
        ref: request.oid,
        depth: 1,
        singleBranch: true,
        tags: false,
        onProgress: ({ phase, loaded, total }) => {
          if (total > 0) request.onProgress(phase, Math.floor((100 * loaded) / total))
        }
      })
    },
    catch: (error) => disk.refused() ?? fetchFailure(request, transport, error instanceof git.Errors.NotFoundError)
  })
  const failure = transport.failure()
  if (failure !== undefined) return yield* failure
  if (fetched.fetchHead === null) return yield* new GitRepositoryEmpty({ message: "The repository has no commits." })
  const packFolder = `${request.gitdir}/objects/pack`
  const packs = yield* Effect.sync(() =>
    nodeFs.existsSync(packFolder)
      ? nodeFs
          .readdirSync(packFolder)
          .filter((name) => name.endsWith(".pack"))
          .map((name) => `${packFolder}/${name}`)
      : []
  )
  // isomorphic-git ignores the packet that contains the server's refusal, so a refusal looks like an empty response.
  if (packs.length === 0) return yield* notHandedOut(request.oid)
  yield* verifyPack(packs)
  const cache = {}
  return {
    read: (oid) =>
      Effect.tryPromise({
        try: () => git.readObject({ ...at, oid, format: "content", cache }),
        catch: () => missingObject(oid)
      }).pipe(
        Effect.flatMap((found) => {
          const type = objectType(found.type)
          return type !== undefined && found.format === "content"
            ? Effect.succeed({ type, bytes: found.object })
            : Effect.fail(missingObject(oid))
        })
      )
  }
})
