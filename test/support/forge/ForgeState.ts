import { createHash } from "node:crypto"

/** A failure that the fake causes instead of the next responses, or after them. */
export type ForgeTrouble =
  /** Secondary limit: 403 with Retry-After for GitHub, 429 for the other forges. */
  | { readonly kind: "secondary limit"; readonly seconds: number }
  /** The hourly limit is exhausted; `resetsAt` is in seconds since 1970. */
  | { readonly kind: "exhausted"; readonly resetsAt: number }
  | { readonly kind: "status"; readonly status: number }
  /** The forge performs the request, but the connection breaks before the response. */
  | { readonly kind: "lost answer" }
  /** A valid response after 17 MiB of spaces. */
  | { readonly kind: "huge" }
  | { readonly kind: "plain text" }

export interface FakeAccount {
  readonly id: number
  readonly login: string
}

export interface FakeComment {
  readonly id: number
  author: FakeAccount
  body: string
  readonly at: string
}

export interface FakePullRequest {
  readonly number: number
  title: string
  state: "open" | "closed"
  merged: boolean
  draft: boolean
  author: FakeAccount
  headCommit: string
  headRef: string
  headRepositoryId: number | null
  baseRef: string
  mergeCommit: string | null
  /** A GitLab pipeline for the head. */
  pipelineId: number | undefined
  readonly comments: Array<FakeComment>
}

export interface FakeStatus {
  readonly commit: string
  readonly context: string
  readonly state: string
  readonly description: string
  readonly url: string
  readonly pipelineId?: number | undefined
  /** The branch whose pipeline shows the status. */
  readonly ref?: string | undefined
}

export interface FakeCheck {
  readonly id: number
  readonly commit: string
  readonly name: string
  state: string
  completed: boolean
  /** The field names of the last request. */
  fields: ReadonlyArray<string>
  title: string
}

/** A token with the permissions that the fake checks. */
export interface FakeToken {
  readonly account: FakeAccount
  readonly permissions: Set<string>
}

export interface FakeRepository {
  readonly id: number
  path: string
  /** The former paths of the repository. */
  readonly formerPaths: Set<string>
  /** True if the repository was transferred to an owner whose repositories are not visible to the credential. */
  hidden: boolean
  readonly pullRequests: Map<number, FakePullRequest>
  /** The access level of each login: read, write or admin. */
  readonly collaborators: Map<string, string>
}

/** Creates a fake forge, with methods for tests to change and inspect it. */
export const forgeState = () => {
  let ids = 1000
  const repositories: Array<FakeRepository> = []
  return {
    repositories,
    tokens: new Map<string, FakeToken>(),
    accounts: new Map<string, FakeAccount>(),
    statuses: [] as Array<FakeStatus>,
    checks: [] as Array<FakeCheck>,
    /** The method and path of each request. */
    calls: [] as Array<string>,
    /** Everything that each request contains, except its credential. */
    sent: [] as Array<string>,
    /** GitHub's responses, by code, for Apps that a person has created from a manifest. Each code can be used once. */
    createdApps: new Map<string, Readonly<Record<string, unknown>>>(),
    /** Failures for the next requests, one per request. `undefined` means no failure. */
    troubles: [] as Array<ForgeTrouble | undefined>,
    /** The address of the Git repository that the fake serves for all of its repositories. */
    git: undefined as string | undefined,
    nextId: () => ++ids,
    addRepository: (path: string): FakeRepository => {
      const repository: FakeRepository = {
        id: ++ids,
        path,
        formerPaths: new Set(),
        hidden: false,
        pullRequests: new Map(),
        collaborators: new Map()
      }
      repositories.push(repository)
      return repository
    },
    rename: (repository: FakeRepository, path: string) => {
      repository.formerPaths.add(repository.path)
      repository.path = path
    }
  }
}
export type ForgeState = ReturnType<typeof forgeState>

/** Returns a commit id that depends on the text. */
export const commitOf = (text: string) => createHash("sha1").update(text).digest("hex")

/** Opens a pull request from a branch of the same repository, unless `changes` specify otherwise. */
export const openPullRequest = (
  repository: FakeRepository,
  number: number,
  author: FakeAccount,
  changes: Partial<FakePullRequest> = {}
): FakePullRequest => {
  const opened: FakePullRequest = {
    number,
    title: `Change ${number}`,
    state: "open",
    merged: false,
    draft: false,
    author,
    headCommit: commitOf(`head of ${number}`),
    headRef: `branch-${number}`,
    headRepositoryId: repository.id,
    baseRef: "main",
    mergeCommit: null,
    pipelineId: undefined,
    comments: [],
    ...changes
  }
  repository.pullRequests.set(number, opened)
  return opened
}
