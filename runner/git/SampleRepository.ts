import type { FsClient } from "isomorphic-git"
import { answerUploadPack, type ServiceAnswer, type ServiceRequest } from "./UploadPack.ts"
import { sampleFiles, sampleRevisions } from "./SampleModule.ts"

const gitdir = "/sample.git"
const signature = { name: "svc", email: "svc@localhost", timezoneOffset: 0, timestamp: 1_735_689_600 }

class NoEntry extends Error {
  readonly code = "ENOENT"
}

const stat = (bytes: Uint8Array | undefined) => ({
  isFile: () => bytes !== undefined,
  isDirectory: () => bytes === undefined,
  isSymbolicLink: () => false,
  mode: bytes === undefined ? 0o40755 : 0o100644,
  size: bytes?.length ?? 0,
  ino: 0,
  uid: 0,
  gid: 0,
  dev: 0,
  ctimeMs: 0,
  mtimeMs: 0
})

/** In-memory file system with the calls that isomorphic-git needs, so the sample never touches a disk. */
const memoryFiles = (): FsClient => {
  const files = new Map<string, Uint8Array>()
  const isFolder = (path: string) => [...files.keys()].some((file) => file.startsWith(`${path}/`))
  const found = async (path: string) => {
    const bytes = files.get(path)
    if (bytes === undefined && !isFolder(path)) throw new NoEntry(path)
    return stat(bytes)
  }
  return {
    promises: {
      readFile: async (path: string, options?: string | { readonly encoding?: string }) => {
        const bytes = files.get(path)
        if (bytes === undefined) throw new NoEntry(path)
        const encoding = typeof options === "string" ? options : options?.encoding
        return encoding === undefined ? bytes : Buffer.from(bytes).toString("utf8")
      },
      writeFile: async (path: string, data: string | Uint8Array) => {
        files.set(path, typeof data === "string" ? Buffer.from(data) : data)
      },
      readdir: async (path: string) => {
        if (!isFolder(path)) throw new NoEntry(path)
        const names = [...files.keys()].flatMap((file) =>
          file.startsWith(`${path}/`) ? (file.slice(path.length + 1).split("/")[0] ?? []) : []
        )
        return [...new Set(names)]
      },
      mkdir: async () => undefined,
      rmdir: async () => undefined,
      unlink: async (path: string) => {
        files.delete(path)
      },
      stat: found,
      lstat: found,
      readlink: async (path: string) => {
        throw new NoEntry(path)
      },
      symlink: async () => undefined,
      chmod: async () => undefined
    }
  }
}

const build = async () => {
  const git = await import("isomorphic-git")
  const at = { fs: memoryFiles(), gitdir }
  await git.init({ ...at, bare: true, defaultBranch: "main" })
  let parent: ReadonlyArray<string> = []
  for (const { message, module, tag } of sampleRevisions) {
    const tree = await Promise.all(
      Object.entries(sampleFiles(module)).map(async ([path, text]) => ({
        path,
        mode: "100644",
        oid: await git.writeBlob({ ...at, blob: Buffer.from(text) }),
        type: "blob" as const
      }))
    )
    const commit = await git.writeCommit({
      ...at,
      commit: {
        tree: await git.writeTree({ ...at, tree }),
        parent: [...parent],
        author: signature,
        committer: signature,
        message: `${message}\n`
      }
    })
    await git.writeRef({ ...at, ref: `refs/tags/${tag}`, value: commit, force: true })
    await git.writeRef({ ...at, ref: "refs/heads/main", value: commit, force: true })
    parent = [commit]
  }
  return { ...at, onlyListed: false }
}

let built: ReturnType<typeof build> | undefined

/** Answers a request to the sample repository. The repository is built once, and is identical on every server of this release. */
export const answerSample = async (request: ServiceRequest): Promise<ServiceAnswer> =>
  answerUploadPack(await (built ??= build()), request)
