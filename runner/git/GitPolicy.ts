import { Context, Duration, Layer, Schema } from "effect"
import { isAddress, readServerAddress } from "../../schema/git/ServerAddress.ts"

const isOrigin = (text: string): boolean => {
  const address = readServerAddress(text)
  return isAddress(address) && address.scheme !== "ssh" && address.origin === text
}

/** An origin as `allowOrigins` compares it: scheme, host, and port unless it is the scheme's own; nothing after that. */
export const AllowedOrigin = Schema.String.check(
  Schema.makeFilter(isOrigin, {
    description: "an http or https origin such as http://git.internal:3000, without path or trailing slash"
  })
)

/** Upper bounds of one sync. All sizes are bytes. */
export interface GitLimits {
  /** What one fetch may receive. */
  readonly packBytes: number
  /** What one listing of refs may receive. */
  readonly responseBytes: number
  readonly refs: number
  /** Entries of the tree, whether kept or left out. */
  readonly files: number
  readonly fileBytes: number
  /** All files together. */
  readonly totalBytes: number
  /** Folders below each other. */
  readonly depth: number
  /** Memory of the process that fetches, with everything it started. */
  readonly rssBytes: number
  /** One whole operation. */
  readonly deadline: Duration.Duration
  /** Longest silence of the server. */
  readonly idle: Duration.Duration
}

export interface GitPolicyShape {
  /** Exact origins such as `http://git.internal:3000` that may be plain http and may have addresses that are not public. */
  readonly allowOrigins: ReadonlyArray<string>
  /** Whether an installed git fetches: when it can, never, or always. The snapshot is the same either way. */
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

/** What the operator allows of Git servers and repositories. */
export class GitPolicy extends Context.Service<GitPolicy, GitPolicyShape>()("svc/git/GitPolicy") {
  static readonly layer = Layer.succeed(GitPolicy, defaultGitPolicy)

  /** The defaults with some of them replaced. */
  static readonly layerWith = (
    policy: Partial<Omit<GitPolicyShape, "limits">> & { readonly limits?: Partial<GitLimits> }
  ) =>
    Layer.succeed(GitPolicy, {
      ...defaultGitPolicy,
      ...policy,
      limits: { ...defaultGitLimits, ...policy.limits }
    })
}
