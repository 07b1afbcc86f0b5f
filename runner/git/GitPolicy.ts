import { Context, Duration, Layer, Schema } from "effect"
import { isAddress, readServerAddress } from "../../schema/git/ServerAddress.ts"

const isOrigin = (text: string): boolean => {
  const address = readServerAddress(text)
  return isAddress(address) && address.scheme !== "ssh" && address.origin === text
}

/** An origin in the form of `allowOrigins`: scheme, host, and port unless it is the scheme's default; nothing else. */
export const AllowedOrigin = Schema.String.check(
  Schema.makeFilter(isOrigin, {
    description: "an http or https origin such as http://git.internal:3000, without path or trailing slash"
  })
)

/** Upper bounds of one sync. All sizes are bytes. */
export interface GitLimits {
  /** Maximum transfer size of one fetch. */
  readonly packBytes: number
  /** Maximum transfer size of one listing of refs. */
  readonly responseBytes: number
  readonly refs: number
  /** Number of entries in the tree, including entries that the snapshot omits. */
  readonly files: number
  readonly fileBytes: number
  /** Total size of all files. */
  readonly totalBytes: number
  /** Maximum depth of nested folders. */
  readonly depth: number
  /** Memory used by the fetching process and its child processes. */
  readonly rssBytes: number
  /** Duration of one whole operation. */
  readonly deadline: Duration.Duration
  /** Maximum silence of the server. */
  readonly idle: Duration.Duration
}

export interface GitPolicyShape {
  /** Exact origins such as `http://git.internal:3000` that may use plain http and may resolve to private addresses. */
  readonly allowOrigins: ReadonlyArray<string>
  /** Fetches with native git when available, never, or always. The snapshot is the same in every case. */
  readonly native: "auto" | "off" | "required"
  readonly limits: GitLimits
}

const mebibyte = 1024 * 1024

export const defaultGitLimits: GitLimits = {
  packBytes: 200 * mebibyte,
  responseBytes: 16 * mebibyte,
  refs: 100_000,
  files: 50_000,
  fileBytes: 64 * mebibyte,
  totalBytes: 512 * mebibyte,
  depth: 64,
  rssBytes: 1024 * mebibyte,
  deadline: Duration.minutes(5),
  idle: Duration.seconds(30)
}

export const defaultGitPolicy: GitPolicyShape = { allowOrigins: [], native: "auto", limits: defaultGitLimits }

/** The operator's policy for Git servers and repositories. */
export class GitPolicy extends Context.Service<GitPolicy, GitPolicyShape>()("svc/runner/git/GitPolicy") {
  static readonly layer = Layer.succeed(GitPolicy, defaultGitPolicy)

  /** The defaults, with some of them replaced. */
  static readonly layerWith = (
    policy: Partial<Omit<GitPolicyShape, "limits">> & { readonly limits?: Partial<GitLimits> }
  ) =>
    Layer.succeed(GitPolicy, {
      ...defaultGitPolicy,
      ...policy,
      limits: { ...defaultGitLimits, ...policy.limits }
    })
}
