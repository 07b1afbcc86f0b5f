import { Context, Effect, FileSystem, Layer } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { delimiter, isAbsolute } from "node:path"
import { GitNativeUnavailable } from "./GitError.ts"
import { GitPolicy } from "./GitPolicy.ts"

/** Minimum version. `http.curloptResolve`, which pins an address, was added in 2.37. */
const oldestVersion = [2, 37] as const

const parseVersion = (text: string) => {
  const [, major, minor] = /^git version (\d+)\.(\d+)/.exec(text) ?? []
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor)]
}

const isUsable = (text: string) => {
  const [major = 0, minor = 0] = parseVersion(text) ?? []
  return major > oldestVersion[0] || (major === oldestVersion[0] && minor >= oldestVersion[1])
}

/**
 * Returns true if this runtime trusts additional certificates. In that case svc does not use git, because git can replace
 * the set of trusted certificates but cannot extend it.
 */
const hasCertificatesOfItsOwn = () => {
  const extra = process.env["NODE_EXTRA_CA_CERTS"]
  return extra !== undefined && extra !== process.env["SSL_CERT_FILE"]
}

export interface UsableGit {
  readonly program: string
  /** True if the policy requires native git, so that a failure of git is final. */
  readonly required: boolean
}

/** The git program on this machine, if the policy permits it for fetches. */
export class InstalledGit extends Context.Service<
  InstalledGit,
  {
    /** Returns `undefined` if git must not be used for fetches. The result is computed once. */
    readonly usable: Effect.Effect<UsableGit | undefined, GitNativeUnavailable>
  }
>()("svc/runner/git/InstalledGit") {
  static readonly layer = Layer.effect(
    InstalledGit,
    Effect.gen(function* () {
      const policy = yield* GitPolicy
      const fileSystem = yield* FileSystem.FileSystem
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner

      const works = (program: string) =>
        fileSystem.exists(program).pipe(
          Effect.flatMap((exists) =>
            exists
              ? spawner.string(ChildProcess.make(program, ["--version"], { env: { LC_ALL: "C" } }))
              : Effect.succeed("")
          ),
          Effect.map(isUsable),
          Effect.orElseSucceed(() => false)
        )

      const find = Effect.gen(function* () {
        const folders = (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute)
        for (const folder of folders) {
          const program = `${folder}/git`
          if (yield* works(program)) return program
        }
        return undefined
      })

      const usable = Effect.gen(function* () {
        if (policy.native === "off") return undefined
        if (policy.native === "auto" && hasCertificatesOfItsOwn()) return undefined
        const program = yield* find
        if (program !== undefined) return { program, required: policy.native === "required" }
        if (policy.native === "auto") return undefined
        return yield* new GitNativeUnavailable({
          message: `The operator requires an installed git of version ${oldestVersion.join(".")} or newer, and there is none.`
        })
      })

      return InstalledGit.of({ usable: yield* Effect.cached(usable) })
    })
  )
}
