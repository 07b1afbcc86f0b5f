import { type Cause, Effect, Redacted, Schedule, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { mkdir, readdir, stat, writeFile } from "node:fs/promises"
import type { GitCredentials } from "./GitCredentials.ts"
import type { GitEndpoint } from "./GitEndpoint.ts"
import {
  GitAuthenticationFailed,
  type GitError,
  GitLimitExceeded,
  GitNativeUnavailable,
  GitProtocolBroken,
  GitRedirectRefused,
  GitRefNotFound,
  GitRepositoryNotFound,
  GitTimedOut,
  GitUnreachable
} from "./GitError.ts"
import type { FetchRequest } from "./IsomorphicFetch.ts"
import { allocationLimit } from "./NativeObjects.ts"
import { objectTooLarge } from "./PackBounds.ts"
import { join } from "node:path"

const head = "ref: refs/heads/main\n"
const config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"

/**
 * Contents of an empty bare repository in a format that every version of git can read: SHA-1, with one file per ref. `git
 * init` would use the default format of the installed version, and a SHA-256 repository cannot fetch a SHA-1 commit.
 */
const createBareRepository = (gitdir: string): Effect.Effect<void, Cause.UnknownError> =>
  Effect.tryPromise(async () => {
    for (const folder of ["objects", "refs"]) await mkdir(join(gitdir, folder), { recursive: true })
    await writeFile(join(gitdir, "HEAD"), head)
    await writeFile(join(gitdir, "config"), config)
  })

export interface NativeOptions {
  /** Path of git. */
  readonly program: string
  readonly endpoint: GitEndpoint
  readonly credentials: GitCredentials | undefined
  /** Maximum size of the fetched pack on disk in bytes. */
  readonly packBytes: number
  /** Git streams larger blobs instead of holding them in memory while unpacking them. */
  readonly fileBytes: number
  /** Larger objects are refused before git allocates memory for them. */
  readonly objectBytes: number
  /** Maximum time during which almost no data arrives. */
  readonly idleMillis: number
}

const keptErrorCharacters = 4096
const leastFileBytes = 1024 * 1024
const packPollInterval = "100 millis"

/** Creates git's environment, which contains no settings from the machine or the server. */
const environment = (
  { endpoint, objectBytes }: NativeOptions,
  home: string,
  authorization: Redacted.Redacted<string> | undefined
) => {
  const { protocol } = new URL(endpoint.url)
  const certificates = process.env["SSL_CERT_FILE"]
  return {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: home,
    LC_ALL: "C",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    ...allocationLimit(objectBytes),
    GIT_ALLOW_PROTOCOL: protocol === "https:" ? "https" : "http:https",
    ...(certificates === undefined ? {} : { GIT_SSL_CAINFO: certificates }),
    ...(authorization === undefined
      ? {}
      : {
          // Pass the header in the environment, because arguments are visible in the process list.
          GIT_CONFIG_COUNT: "1",
          // Restrict the header to this repository, so that git does not send it with other requests to the server.
          GIT_CONFIG_KEY_0: `http.${endpoint.url}.extraHeader`,
          GIT_CONFIG_VALUE_0: Redacted.make(`Authorization: ${Redacted.value(authorization)}`)
        })
  }
}

const pinArguments = (options: NativeOptions): ReadonlyArray<string> => {
  const { hostname, port, protocol } = new URL(options.endpoint.url)
  const number = port === "" ? (protocol === "https:" ? "443" : "80") : port
  const addresses = options.endpoint.addresses.map((address) => (address.includes(":") ? `[${address}]` : address))
  const settings = {
    "protocol.version": "2",
    "http.followRedirects": "false",
    "http.curloptResolve": `${hostname}:${number}:${addresses.join(",")}`,
    "http.proxy": "",
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": String(Math.ceil(options.idleMillis / 1000)),
    "credential.helper": "",
    "core.hooksPath": "/dev/null",
    // Skip git's own check: svc verifies the id, type and names of objects when it reads them, with or without git.
    "transfer.fsckObjects": "false",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "core.bigFileThreshold": String(Math.max(options.fileBytes, leastFileBytes)),
    // Keep the pack as a single file regardless of its number of objects, so that svc can watch the file's size.
    "fetch.unpackLimit": "1"
  }
  return Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`])
}

/** Extracts git's own description of a damaged object from its error output. */
const damagedObject = (stderr: string): string | undefined =>
  stderr
    .split("\n")
    .flatMap((line) => /^(?:error|fatal): ([\w ,'-]+)$/i.exec(line.trim())?.[1] ?? [])
    .find((text) => /\b(?:object|tree|blob|commit|tag)\b/i.test(text))

/** Returns the failure if the server caused it, because in that case a fetch without native git would also fail. */
const fetchFailure = (stderr: string, oid: string, authorized: boolean): GitError | undefined => {
  if (/not our ref|unadvertised object|couldn't find remote ref/i.test(stderr))
    return new GitRefNotFound({
      ref: oid,
      message: `The Git server does not hand out the commit ${oid}. Name a branch or tag that points to it.`
    })
  if (/redirect|returned error: 30\d/i.test(stderr))
    return new GitRedirectRefused({ message: "The Git server answered with a redirect, which is never followed." })
  if (/Authentication failed|could not read Username|returned error: 40[13]/i.test(stderr))
    return new GitAuthenticationFailed({
      message: authorized
        ? "The Git server refused the credentials. Check that they are valid and may read this repository."
        : "The Git server requires credentials. Choose a Connection for this Source."
    })
  const lines = stderr.split("\n")
  const isUnknown = lines.some((line) => /repository /i.test(line) && /not found/i.test(line))
  if (isUnknown || /returned error: 404/i.test(stderr))
    return new GitRepositoryNotFound({ message: "The Git server has no repository at this URL." })
  if (/Operation too slow|timed out/i.test(stderr))
    return new GitTimedOut({ message: "The Git server stopped answering." })
  const status = /returned error: (429|5\d\d)/i.exec(stderr)?.[1]
  if (status !== undefined)
    return new GitUnreachable({
      message: `The Git server answered with status ${status}${status === "429" ? " (too many requests)" : ""}. Try again later.`
    })
  if (/Failed to connect|Connection refused|SSL/i.test(stderr))
    return new GitUnreachable({ message: "The connection to the Git server failed. Try again later." })
  // Fall back to a fetch without native git, which identifies the damaged object.
  if (damagedObject(stderr) !== undefined) return undefined
  if (/index-pack|early EOF|bad (?:pack|object)|unexpected disconnect|protocol error/i.test(stderr))
    return new GitProtocolBroken({ message: "The Git server sent data that is not a valid Git answer." })
  return undefined
}

const packSize = async (gitdir: string): Promise<number> => {
  const folder = `${gitdir}/objects/pack`
  const names = await readdir(folder).catch(() => [])
  const sizes = await Promise.all(
    names.map((name) =>
      stat(`${folder}/${name}`).then(
        (found) => found.size,
        () => 0
      )
    )
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

const packTooLarge = (maximum: number) =>
  new GitLimitExceeded({
    limit: "packBytes",
    maximum,
    message: `The Git server sent more than the ${maximum} bytes this service accepts.`
  })

const watchPack = (gitdir: string, maximum: number): Effect.Effect<never, GitLimitExceeded> =>
  Effect.promise(() => packSize(gitdir)).pipe(
    Effect.flatMap((size) => (size > maximum ? Effect.fail(packTooLarge(maximum)) : Effect.void)),
    Effect.repeat(Schedule.spaced(packPollInterval)),
    Effect.andThen(Effect.never)
  )

const progressLine = /^(?:remote: )?([A-Z][A-Za-z ]+): +(\d{1,3})%/

/** Runs git until it exits. Returns the exit code and the end of the output. */
const runGit = Effect.fnUntraced(function* (
  options: NativeOptions,
  request: FetchRequest,
  args: ReadonlyArray<string>,
  authorization?: Redacted.Redacted<string>
): Effect.fn.Return<
  { readonly code: number; readonly stderr: string },
  GitNativeUnavailable,
  ChildProcessSpawner.ChildProcessSpawner
> {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  return yield* Effect.gen(function* () {
    const handle = yield* spawner.spawn(
      ChildProcess.make(options.program, args, {
        env: environment(options, request.gitdir, authorization),
        stdin: "ignore",
        stdout: "ignore",
        // Keep git in this process's group, so that stopping this process also stops git.
        detached: false,
        killSignal: "SIGKILL"
      })
    )
    const stderr = yield* handle.stderr.pipe(
      Stream.decodeText(),
      Stream.runFold(
        () => "",
        (kept: string, text: string) => {
          for (const line of text.split(/[\r\n]+/)) {
            const [, phase, percent] = progressLine.exec(line) ?? []
            if (phase !== undefined) request.onProgress(phase, Number(percent))
          }
          return `${kept}${text}`.slice(-keptErrorCharacters)
        }
      )
    )
    return { code: Number(yield* handle.exitCode), stderr }
  }).pipe(
    Effect.scoped,
    Effect.mapError(() => new GitNativeUnavailable({ message: "The installed git could not be run." }))
  )
})

/**
 * Fetches one commit without history into a bare repository on disk, using the installed git. Fails with
 * `GitNativeUnavailable` if git failed for a reason that the server did not cause.
 */
export const fetchNative = Effect.fn("fetchNative")(function* (
  options: NativeOptions,
  request: FetchRequest
): Effect.fn.Return<void, GitError, ChildProcessSpawner.ChildProcessSpawner> {
  const { credentials } = options
  const authorization =
    credentials === undefined ? undefined : yield* Effect.fromResult(credentials.authorizationFor(request.url))
  yield* createBareRepository(request.gitdir).pipe(
    Effect.mapError(
      () => new GitNativeUnavailable({ message: "No repository could be created for the installed git." })
    )
  )
  const fetchArguments = [
    ...pinArguments(options),
    `--git-dir=${request.gitdir}`,
    "fetch",
    "--progress",
    "--depth=1",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--",
    request.url,
    `+${request.oid}:refs/svc/want`
  ]
  const fetched = yield* runGit(options, request, fetchArguments, authorization).pipe(
    Effect.raceFirst(watchPack(request.gitdir, options.packBytes))
  )
  // Check the size again: a fast fetch may end between two checks.
  const size = yield* Effect.promise(() => packSize(request.gitdir))
  if (size > options.packBytes) return yield* packTooLarge(options.packBytes)
  if (/attempting to allocate \d+ over limit/i.test(fetched.stderr)) return yield* objectTooLarge(options.objectBytes)
  if (fetched.code !== 0) {
    const problem = damagedObject(fetched.stderr)
    const about = problem === undefined ? "" : ` It reports: ${problem}. Check the repository with git fsck.`
    return yield* fetchFailure(fetched.stderr, request.oid, authorization !== undefined) ??
      new GitNativeUnavailable({ message: `The installed git could not fetch the repository.${about}` })
  }
})
