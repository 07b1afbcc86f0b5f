import { Context, Duration, Layer } from "effect"

/** Limits of one sync. Sizes are in bytes. */
export interface GitLimits {
  /** Maximum size of the data that one fetch transfers. */
  readonly packBytes: number
  /** Maximum size of the data that one listing of refs transfers. */
  readonly responseBytes: number
  readonly refs: number
  /** Maximum number of entries in the tree, including entries that the snapshot omits. */
  readonly files: number
  readonly fileBytes: number
  /** Maximum total size of all files. */
  readonly totalBytes: number
  /** Maximum folder depth. */
  readonly depth: number
  /** Maximum memory of the fetching process and its children. */
  readonly rssBytes: number
  /** Maximum duration of one complete operation. */
  readonly deadline: Duration.Duration
  /** Maximum time without data from the server. */
  readonly idle: Duration.Duration
}

export interface GitPolicyShape {
  /** Exact origins, such as `http://git.internal:3000`, that may use plain http and resolve to private addresses. */
  readonly allowOrigins: ReadonlyArray<string>
  /** When to use native git: if it is available, never, or always. The resulting snapshot is the same in each case. */
  readonly native: "auto" | "off" | "required"
  readonly limits: GitLimits
  /**
   * Address of the built-in sample repository on this server. svc serves exactly this address from memory, without a
   * connection. The policy applies to every other address on the same origin.
   */
  readonly sample?: string | undefined
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

  /** Creates the default policy with some settings replaced. */
  static readonly layerWith = (
    policy: Partial<Omit<GitPolicyShape, "limits">> & { readonly limits?: Partial<GitLimits> }
  ) =>
    Layer.succeed(GitPolicy, {
      ...defaultGitPolicy,
      ...policy,
      limits: { ...defaultGitLimits, ...policy.limits }
    })
}
