import { Context, Effect, FileSystem, Layer, Path, Schema, SchemaIssue } from "effect"
import type { RpcGroup } from "effect/rpc"
import { ExclusiveWork } from "../../actors/base/node/ExclusiveWork.ts"
import { Nodes } from "../../actors/base/node/Nodes.ts"
import { SigningKeys } from "../../actors/access/issuer/SigningKeys.ts"
import { NoticeEndpoints } from "../../actors/access/notice/NoticeEndpoints.ts"
import { AgentPresence } from "../../actors/running/agent-pool/AgentPresence.ts"
import { Agents } from "../../actors/running/agent-pool/Agents.ts"
import { Pools } from "../../actors/running/agent-pool/Pools.ts"
import { type ApiError, invalidRequest } from "../../schema/errors/ApiError.ts"
import { offlineNoticeSettings } from "../composition/Notices.ts"
import { storage } from "../composition/Storage.ts"
import { DataFolderUnusable } from "../database/DataFolder.ts"
import { inspectDataFolder } from "../database/DataFolderInspection.ts"
import { lookAtInstance } from "../database/InstanceLock.ts"
import { retentionSettings } from "../settings/RetentionSettings.ts"
import type { Settings } from "../settings/Settings.ts"
import { AccountCommands } from "./AccountCommands.ts"
import { GrantCommands } from "./GrantCommands.ts"
import { KeyCommands } from "./KeyCommands.ts"
import { OrphanedStateCommands } from "./OrphanedStateCommands.ts"
import type { PolicyCommands } from "./PolicyCommands.ts"
import { NoticeCommands } from "./NoticeCommands.ts"
import { PoolCommands } from "./PoolCommands.ts"
import type { ReleaseCommands } from "./ReleaseCommands.ts"
import { RestoreCommands } from "./RestoreCommands.ts"
import { RetentionCommands } from "./RetentionCommands.ts"
import { operatorClient } from "./OperatorClient.ts"
import { OperatorProtocol } from "./OperatorProtocol.ts"
import { OperatorSocketUnusable } from "./OperatorSocketPath.ts"

/** The operator's commands, whose failures include those of a call to a server. */
type Reached<Commands> = {
  readonly [Name in keyof Commands]: Commands[Name] extends (...args: infer Args) => Effect.Effect<infer A, infer E>
    ? (...args: Args) => Effect.Effect<A, E | ApiError | OperatorSocketUnusable>
    : Commands[Name] extends Effect.Effect<infer A, infer E>
      ? Effect.Effect<A, E | OperatorSocketUnusable>
      : never
}

/** Returns the real path of a data folder that a server uses, with the known details of the server. */
const served = Effect.fn("served")(
  function* (dataDir: string) {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* files.realPath(path.resolve(dataDir))
    return { folder, ...(yield* lookAtInstance(folder)) }
    // Ignore a missing or unreadable folder here, because the attempt to claim the folder reports it.
  },
  Effect.orElseSucceed(() => undefined)
)

/**
 * If no server is running, refuses any user except the owner of the folder, because files are written as the user who runs
 * the command, and the server could not open files that root creates. Fails with `DataFolderUnusable`.
 */
const requireOwner = Effect.fn("requireOwner")(function* (dataDir: string) {
  const look = yield* inspectDataFolder(dataDir).pipe(
    Effect.mapError(({ message }) => new DataFolderUnusable({ message }))
  )
  if (look.kind === "folder" && process.getuid?.() === 0 && look.owner !== 0) {
    return yield* new DataFolderUnusable({
      message: `The data folder ${look.path} belongs to user ${look.owner}, and no server is running on it. Start the server and repeat the command, or run it as that user.`
    })
  }
})

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

/**
 * Checks a request with the protocol's schema before executing it, so that the message for a refused command is the same
 * with and without a server, and later code receives only values within their bounds.
 */
const judged = <Request, A, E>(
  name: RpcGroup.Rpcs<typeof OperatorProtocol>["_tag"],
  use: (request: Request) => Effect.Effect<A, E>,
  payload: (request: Request) => unknown = (request) => request
): ((request: Request) => Effect.Effect<A, E | ApiError>) => {
  const schema: Schema.Top | undefined = OperatorProtocol.requests.get(name)?.payloadSchema
  if (schema === undefined) throw new Error(`The operator's protocol has no command ${name}`)
  const decode = Schema.decodeUnknownEffect(Schema.toType(schema), { errors: "all" })
  return (request) =>
    decode(payload(request)).pipe(
      Effect.mapError(({ issue }) =>
        invalidRequest(
          formatIssues(issue)
            .issues.map(({ message, path }) => `${(path ?? []).map(String).join(".")}: ${message}.`)
            .join(" ")
        )
      ),
      // Defer the call, because a client encodes the request as soon as it is called, and dies if the request is invalid.
      Effect.andThen(Effect.suspend(() => use(request)))
    )
}

/** Account commands, executed by the server that holds the data folder or, without a server, directly on the folder. */
export class OperatorAccounts extends Context.Service<OperatorAccounts, Reached<AccountCommands["Service"]>>()(
  "svc/src/operator/OperatorAccounts"
) {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      OperatorAccounts,
      Effect.gen(function* () {
        const server = yield* served(settings.dataDir)
        if (server?.held !== true) {
          yield* requireOwner(settings.dataDir)
          const own = AccountCommands.layer(undefined).pipe(Layer.provide(storage(settings)))
          return Context.get(yield* Layer.build(own), AccountCommands)
        }
        const { client, reached } = yield* operatorClient(server.folder, server.holder)
        return OperatorAccounts.of({
          createUser: (account) => reached(client.CreateUser(account)),
          createToken: (request) => reached(client.CreateToken(request)),
          withdrawToken: (request) => reached(client.WithdrawToken(request)),
          setupLink: reached(client.SetupLink()),
          resetLink: (request) => reached(client.ResetLink(request)),
          addressLink: (request) => reached(client.AddressLink(request)),
          users: reached(client.ListUsers()),
          setUserStatus: (request) => reached(client.SetUserStatus(request)),
          deleteUser: (email) => reached(client.DeleteUser({ email })),
          invite: (request) => reached(client.Invite(request)),
          setPassword: (account) => reached(client.SetPassword(account))
        })
      }).pipe(
        Effect.map((commands: Reached<AccountCommands["Service"]>) =>
          OperatorAccounts.of({
            ...commands,
            createUser: judged("CreateUser", commands.createUser),
            createToken: judged("CreateToken", commands.createToken),
            resetLink: judged("ResetLink", commands.resetLink),
            addressLink: judged("AddressLink", commands.addressLink),
            setUserStatus: judged("SetUserStatus", commands.setUserStatus),
            deleteUser: judged("DeleteUser", commands.deleteUser, (email) => ({ email })),
            invite: judged("Invite", commands.invite),
            setPassword: judged("SetPassword", commands.setPassword)
          })
        )
      )
    )
}

/** Key commands, executed like `OperatorAccounts`. */
export class OperatorKeys extends Context.Service<OperatorKeys, Reached<KeyCommands["Service"]>>()(
  "svc/src/operator/OperatorKeys"
) {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      OperatorKeys,
      Effect.gen(function* () {
        const server = yield* served(settings.dataDir)
        if (server?.held !== true) {
          yield* requireOwner(settings.dataDir)
          // Other servers may rotate keys of a shared database at the same time.
          const exclusive =
            settings.databaseUrl === undefined
              ? ExclusiveWork.alone
              : ExclusiveWork.layer.pipe(Layer.provideMerge(Nodes.layer))
          const own = KeyCommands.layer.pipe(
            Layer.provide(Layer.merge(SigningKeys.layer, exclusive)),
            Layer.provide(storage(settings))
          )
          return Context.get(yield* Layer.build(own), KeyCommands)
        }
        const { client, reached } = yield* operatorClient(server.folder, server.holder)
        return OperatorKeys.of({ rotate: (request) => reached(client.RotateKeys(request)) })
      }).pipe(
        Effect.map((commands: Reached<KeyCommands["Service"]>) =>
          OperatorKeys.of({
            ...commands,
            rotate: judged("RotateKeys", commands.rotate)
          })
        )
      )
    )
}

/** The operator's post-restore review. Runs in the same way as `OperatorAccounts`. */
export class OperatorRestore extends Context.Service<OperatorRestore, Reached<RestoreCommands["Service"]>>()(
  "svc/src/operator/OperatorRestore"
) {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      OperatorRestore,
      Effect.gen(function* () {
        const server = yield* served(settings.dataDir)
        if (server?.held !== true) {
          yield* requireOwner(settings.dataDir)
          const own = RestoreCommands.layer.pipe(Layer.provide(storage(settings)))
          return Context.get(yield* Layer.build(own), RestoreCommands)
        }
        const { client, reached } = yield* operatorClient(server.folder, server.holder)
        return OperatorRestore.of({
          list: reached(client.ListRestoreReview()),
          rules: reached(client.ListRestoredRules()),
          decide: (request) => reached(client.DecideRestoreReview(request))
        })
      }).pipe(
        Effect.map((commands: Reached<RestoreCommands["Service"]>) =>
          OperatorRestore.of({
            ...commands,
            decide: judged("DecideRestoreReview", commands.decide)
          })
        )
      )
    )
}

/** Commands for orphaned states, executed like `OperatorAccounts`. */
export class OperatorOrphanedStates extends Context.Service<
  OperatorOrphanedStates,
  Reached<OrphanedStateCommands["Service"]>
>()("svc/src/operator/OperatorOrphanedStates") {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      OperatorOrphanedStates,
      Effect.gen(function* () {
        const server = yield* served(settings.dataDir)
        if (server?.held !== true) {
          yield* requireOwner(settings.dataDir)
          const own = OrphanedStateCommands.layer.pipe(Layer.provide(storage(settings)))
          return Context.get(yield* Layer.build(own), OrphanedStateCommands)
        }
        const { client, reached } = yield* operatorClient(server.folder, server.holder)
        return OperatorOrphanedStates.of({
          list: reached(client.ListOrphanedStates()),
          download: (id) => reached(client.DownloadOrphanedState({ id }))
        })
      }).pipe(
        Effect.map((commands: Reached<OrphanedStateCommands["Service"]>) =>
          OperatorOrphanedStates.of({
            ...commands,
            download: judged("DownloadOrphanedState", commands.download, (id) => ({ id }))
          })
        )
      )
    )
}

/** Commands for pools of agents, executed like `OperatorAccounts`. Only a running server can list the connected agents. */
export class OperatorPools extends Context.Service<OperatorPools, Reached<PoolCommands["Service"]>>()(
  "svc/src/operator/OperatorPools"
) {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      OperatorPools,
      Effect.gen(function* () {
        const server = yield* served(settings.dataDir)
        if (server?.held !== true) {
          yield* requireOwner(settings.dataDir)
          const own = PoolCommands.layer.pipe(
            Layer.provide(Layer.mergeAll(Pools.layer, Agents.layer.pipe(Layer.provide(AgentPresence.layer)))),
            Layer.provide(storage(settings))
          )
          return Context.get(yield* Layer.build(own), PoolCommands)
        }
        const { client, reached } = yield* operatorClient(server.folder, server.holder)
        return OperatorPools.of({
          list: reached(client.ListPools()),
          change: (request) => reached(client.ChangePool(request)),
          token: (request) => reached(client.IssueEnrolmentToken(request)),
          agents: (pool) => reached(client.ListAgents(pool === undefined ? {} : { pool })),
          changeAgent: (request) => reached(client.ChangeAgent(request))
        })
      }).pipe(
        Effect.map((commands: Reached<PoolCommands["Service"]>) =>
          OperatorPools.of({
            ...commands,
            change: judged("ChangePool", commands.change),
            token: judged("IssueEnrolmentToken", commands.token),
            agents: judged("ListAgents", commands.agents, (pool) => (pool === undefined ? {} : { pool })),
            changeAgent: judged("ChangeAgent", commands.changeAgent)
          })
        )
      )
    )
}

/**
 * Commands for the server's notice endpoints, executed like `OperatorAccounts`. If no server is running, notices wait until
 * a server starts.
 */
export class OperatorNotices extends Context.Service<OperatorNotices, Reached<NoticeCommands["Service"]>>()(
  "svc/src/operator/OperatorNotices"
) {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      OperatorNotices,
      Effect.gen(function* () {
        const server = yield* served(settings.dataDir)
        if (server?.held !== true) {
          yield* requireOwner(settings.dataDir)
          const own = NoticeCommands.layer.pipe(
            Layer.provide(NoticeEndpoints.layer),
            Layer.provide(offlineNoticeSettings(settings)),
            Layer.provide(storage(settings))
          )
          return Context.get(yield* Layer.build(own), NoticeCommands)
        }
        const { client, reached } = yield* operatorClient(server.folder, server.holder)
        return OperatorNotices.of({
          list: reached(client.ListNoticeEndpoints()),
          change: (request) => reached(client.ChangeNoticeEndpoint(request)),
          deliveries: (request) => reached(client.ListNoticeDeliveries(request))
        })
      }).pipe(
        Effect.map((commands: Reached<NoticeCommands["Service"]>) =>
          OperatorNotices.of({
            ...commands,
            change: judged("ChangeNoticeEndpoint", commands.change),
            deliveries: judged("ListNoticeDeliveries", commands.deliveries)
          })
        )
      )
    )
}

/** Commands that can be executed only by the server that is waiting for an agent. */
export class OperatorReleases extends Context.Service<OperatorReleases, Reached<ReleaseCommands["Service"]>>()(
  "svc/src/operator/OperatorReleases"
) {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      OperatorReleases,
      Effect.gen(function* () {
        const server = yield* served(settings.dataDir)
        if (server?.held !== true) {
          return yield* new OperatorSocketUnusable({
            message: `No server has the data folder ${settings.dataDir}: start it, and it waits for the agent again.`
          })
        }
        const { client, reached } = yield* operatorClient(server.folder, server.holder)
        return OperatorReleases.of({ release: (request) => reached(client.ReleaseRun(request)) })
      }).pipe(
        Effect.map((commands: Reached<ReleaseCommands["Service"]>) =>
          OperatorReleases.of({
            ...commands,
            release: judged("ReleaseRun", commands.release)
          })
        )
      )
    )
}

/** Commands for the operators of the installation, executed like `OperatorAccounts`. */
export class OperatorGrants extends Context.Service<OperatorGrants, Reached<GrantCommands["Service"]>>()(
  "svc/src/operator/OperatorGrants"
) {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      OperatorGrants,
      Effect.gen(function* () {
        const server = yield* served(settings.dataDir)
        if (server?.held !== true) {
          yield* requireOwner(settings.dataDir)
          const own = GrantCommands.layer.pipe(Layer.provide(storage(settings)))
          return Context.get(yield* Layer.build(own), GrantCommands)
        }
        const { client, reached } = yield* operatorClient(server.folder, server.holder)
        return OperatorGrants.of({
          list: reached(client.ListOperators()),
          grant: (account) => reached(client.GrantOperator({ account })),
          revoke: (account) => reached(client.RevokeOperator({ account }))
        })
      }).pipe(
        Effect.map((commands: Reached<GrantCommands["Service"]>) =>
          OperatorGrants.of({
            ...commands,
            grant: judged("GrantOperator", commands.grant, (account) => ({ account })),
            revoke: judged("RevokeOperator", commands.revoke, (account) => ({ account }))
          })
        )
      )
    )
}

/** Commands for records whose retention period has ended, executed like `OperatorAccounts`. */
export class OperatorRetention extends Context.Service<OperatorRetention, Reached<RetentionCommands["Service"]>>()(
  "svc/src/operator/OperatorRetention"
) {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      OperatorRetention,
      Effect.gen(function* () {
        const server = yield* served(settings.dataDir)
        if (server?.held !== true) {
          yield* requireOwner(settings.dataDir)
          const own = RetentionCommands.layer.pipe(
            Layer.provide(retentionSettings(settings)),
            Layer.provide(storage(settings))
          )
          return Context.get(yield* Layer.build(own), RetentionCommands)
        }
        const { client, reached } = yield* operatorClient(server.folder, server.holder)
        return OperatorRetention.of({ survey: reached(client.SurveyRetention()), prune: reached(client.Prune()) })
      })
    )
}

/** Commands for the policy of a running server. If no server is running, there is nothing to reload. */
export class OperatorPolicies extends Context.Service<OperatorPolicies, Reached<PolicyCommands["Service"]>>()(
  "svc/src/operator/OperatorPolicies"
) {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      OperatorPolicies,
      Effect.gen(function* () {
        const server = yield* served(settings.dataDir)
        if (server?.held !== true) {
          return yield* new OperatorSocketUnusable({
            message: `No server has the data folder ${settings.dataDir}: there is no policy to reload. A server reads its policy file when it starts.`
          })
        }
        const { client, reached } = yield* operatorClient(server.folder, server.holder)
        return OperatorPolicies.of({ reload: reached(client.ReloadPolicy()) })
      })
    )
}
