import { Effect, Layer } from "effect"
import type { ForgeRepository } from "../../schema/records/Forge.ts"
import { GitPolicy } from "../git/GitPolicy.ts"
import { Forge, type ForgeAccess, type ForgeFailure } from "./Forge.ts"
import { forgejo } from "./Forgejo.ts"
import { type AskedOnce, failure, type ForgeCalls, type ForgeMoved } from "./ForgeRequest.ts"
import { makeGitHub } from "./GitHub.ts"
import { gitLab } from "./GitLab.ts"

const elsewhere = () => Effect.fail(failure("missing", "The repository was moved, and svc could not follow it."))

/** The client of all forges, under the operator's policy for Git servers. */
export const layer = Layer.effect(
  Forge,
  Effect.gen(function* () {
    const policy = yield* GitPolicy
    const clients: Readonly<Record<ForgeAccess["kind"], ForgeCalls>> = { github: makeGitHub(), gitlab: gitLab, forgejo }

    const settled = <A>(asked: AskedOnce<A>): Effect.Effect<A, ForgeFailure> =>
      asked.pipe(Effect.catchTag("ForgeMoved", elsewhere), Effect.provideService(GitPolicy, policy))

    /** If a repository was renamed and the repository at the new path has the same id, repeats the call once. */
    const at = <A>(
      access: ForgeAccess,
      repository: ForgeRepository,
      call: (client: ForgeCalls, repository: ForgeRepository) => AskedOnce<A>
    ): Effect.Effect<A, ForgeFailure> => {
      const client = clients[access.kind]
      const again = (): AskedOnce<A> =>
        Effect.flatMap(client.repositoryWithId(access, repository.id), (current) =>
          current.id === repository.id && current.path !== repository.path ? call(client, current) : elsewhere()
        )
      return settled(Effect.catchTag(call(client, repository), "ForgeMoved", again))
    }

    return Forge.of({
      test: (access, paths) => settled(clients[access.kind].test(access, paths)),
      account: (access) => settled(clients[access.kind].account(access)),
      repository: (access, path) => {
        const client = clients[access.kind]
        const follow = ({ path: target }: ForgeMoved): AskedOnce<ForgeRepository> => {
          const [, id] = /^\/(?:repositories|projects)\/(\d+)$/.exec(target) ?? []
          return id === undefined
            ? client.repository(access, target.replace(/^\/repos\//, ""))
            : client.repositoryWithId(access, id)
        }
        return settled(Effect.catchTag(client.repository(access, path), "ForgeMoved", follow))
      },
      repositoryWithId: (access, id) => settled(clients[access.kind].repositoryWithId(access, id)),
      openPullRequests: (access, repository) =>
        at(access, repository, (client, current) => client.openPullRequests(access, current)),
      pullRequest: (access, repository, number) =>
        at(access, repository, (client, current) => client.pullRequest(access, current, number)),
      mayWrite: (access, repository, account) =>
        at(access, repository, (client, current) => client.mayWrite(access, current, account)),
      commentsSince: (access, repository, since) =>
        at(access, repository, (client, current) => client.commentsSince(access, current, since)),
      findComment: (access, repository, number, marker, author) =>
        at(access, repository, (client, current) => client.findComment(access, current, number, marker, author)),
      createComment: (access, repository, number, body) =>
        at(access, repository, (client, current) => client.createComment(access, current, number, body)),
      editComment: (access, repository, number, commentId, body) =>
        at(access, repository, (client, current) => client.editComment(access, current, number, commentId, body)),
      deleteComment: (access, repository, number, commentId) =>
        at(access, repository, (client, current) => client.deleteComment(access, current, number, commentId)),
      setStatus: (access, repository, number, commit, status) =>
        at(access, repository, (client, current) => client.setStatus(access, current, number, commit, status))
    })
  })
)
