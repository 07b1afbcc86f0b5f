import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import { Effect, FileSystem, Layer } from "effect"
import { RpcSerialization, RpcServer } from "effect/rpc"
import { SocketServer } from "effect/socket"
import { StaleReasons } from "../../actors/ledger/staleness/StaleReasons.ts"
import { NodeLabel, Nodes } from "../../actors/base/node/Nodes.ts"
import { DataFolder } from "../database/DataFolder.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"
import { AccountCommands } from "./AccountCommands.ts"
import { GrantCommands } from "./GrantCommands.ts"
import { KeyCommands } from "./KeyCommands.ts"
import { issueOperatorSecret, requireOperatorSecret } from "./OperatorAuthorization.ts"
import { OrphanedStateCommands } from "./OrphanedStateCommands.ts"
import { PolicyCommands } from "./PolicyCommands.ts"
import { NoticeCommands } from "./NoticeCommands.ts"
import { PoolCommands } from "./PoolCommands.ts"
import { ReleaseCommands } from "./ReleaseCommands.ts"
import { RestoreCommands } from "./RestoreCommands.ts"
import { RetentionCommands } from "./RetentionCommands.ts"
import { OperatorProtocol } from "./OperatorProtocol.ts"
import { OperatorSocketUnusable, operatorSocketPath } from "./OperatorSocketPath.ts"

// Maximum size of a command. The operator's commands are a few hundred bytes long.
const mostBytes = 64 * 1024

/** Create the secret before anybody can connect. */
const authorization = Layer.unwrap(
  Effect.gen(function* () {
    const folder = yield* DataFolder
    return requireOperatorSecret(yield* issueOperatorSecret(folder.path))
  }).pipe(
    Effect.mapError(
      ({ message }) => new OperatorSocketUnusable({ message: `Its secret cannot be written: ${message}.` })
    )
  )
)

/**
 * Listens in the claimed data folder, for its owner only: the folder has mode 0700 and the socket 0600. First removes a
 * socket that a killed server left behind. The claim proves that no other process listens on the socket.
 */
const listening = Layer.effect(
  SocketServer.SocketServer,
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const folder = yield* DataFolder
    const path = yield* operatorSocketPath(folder.path)
    const remove = files.remove(path, { force: true })
    yield* remove
    yield* Effect.addFinalizer(() => Effect.ignore(remove))
    const server = yield* NodeSocketServer.make({ path })
    yield* files.chmod(path, 0o600)
    return server
  }).pipe(
    Effect.catchTags({
      PlatformError: (error) => new OperatorSocketUnusable({ message: `${error.message}.` }),
      SocketServerError: (error) => new OperatorSocketUnusable({ message: `${error.message}.` })
    })
  )
)

const handlers = OperatorProtocol.toLayer(
  Effect.gen(function* () {
    const accounts = yield* AccountCommands
    const keys = yield* KeyCommands
    const grants = yield* GrantCommands
    const restored = yield* RestoreCommands
    const policies = yield* PolicyCommands
    const leftOvers = yield* OrphanedStateCommands
    const retained = yield* RetentionCommands
    const poolCommands = yield* PoolCommands
    const noticeCommands = yield* NoticeCommands
    const released = yield* ReleaseCommands
    const staleReasons = yield* StaleReasons
    const nodes = yield* Nodes
    const { label } = yield* NodeLabel
    return OperatorProtocol.of({
      CreateUser: accounts.createUser,
      CreateToken: accounts.createToken,
      WithdrawToken: accounts.withdrawToken,
      SetupLink: () => accounts.setupLink,
      ResetLink: accounts.resetLink,
      AddressLink: accounts.addressLink,
      ListUsers: () => accounts.users,
      SetUserStatus: accounts.setUserStatus,
      DeleteUser: ({ email }) => accounts.deleteUser(email),
      Invite: accounts.invite,
      SetPassword: accounts.setPassword,
      ListRestoreReview: () => restored.list,
      ListRestoredRules: () => restored.rules,
      // Look for stale reasons only in a running server. If no server is running, the next startup does this.
      DecideRestoreReview: (request) => restored.decide(request).pipe(Effect.tap(staleReasons.compareUnread)),
      ListOrphanedStates: () => leftOvers.list,
      DownloadOrphanedState: ({ id }) => leftOvers.download(id),
      ListPools: () => poolCommands.list,
      ChangePool: poolCommands.change,
      IssueEnrolmentToken: poolCommands.token,
      ListAgents: ({ pool }) => poolCommands.agents(pool),
      ChangeAgent: poolCommands.changeAgent,
      ReleaseRun: released.release,
      SurveyRetention: () => retained.survey,
      Prune: () => retained.prune,
      ReloadPolicy: () => policies.reload,
      ListNoticeEndpoints: () => noticeCommands.list,
      ChangeNoticeEndpoint: noticeCommands.change,
      ListNoticeDeliveries: noticeCommands.deliveries,
      ListOperators: () => grants.list,
      GrantOperator: ({ account }) => grants.grant(account),
      RevokeOperator: ({ account }) => grants.revoke(account),
      RotateKeys: keys.rotate,
      Node: () => Effect.succeed(nodes.isShared ? { id: nodes.name, label } : null)
    })
  })
)

const commands = Layer.mergeAll(
  Layer.unwrap(Effect.map(HttpSettings, ({ baseUrl }) => AccountCommands.layer(baseUrl))),
  GrantCommands.layer,
  KeyCommands.layer,
  OrphanedStateCommands.layer,
  PolicyCommands.layer,
  NoticeCommands.layer,
  PoolCommands.layer,
  ReleaseCommands.layer,
  RestoreCommands.layer,
  RetentionCommands.layer
)

/**
 * Accepts the operator's commands while this process holds the data folder. If the server cannot listen for commands, it
 * still runs, but the operator has to stop the server before using the commands.
 */
export const operatorServer = RpcServer.layer(OperatorProtocol, { disableFatalDefects: true }).pipe(
  Layer.provide(handlers),
  Layer.provide(commands),
  Layer.provide(RpcServer.layerProtocolSocketServer),
  Layer.provide(RpcSerialization.layerNdjsonWith({ maxBufferSize: mostBytes })),
  Layer.provide(listening),
  Layer.provide(authorization),
  Layer.catchTag("OperatorSocketUnusable", ({ message }) =>
    Layer.effectDiscard(
      Effect.logWarning(`The commands of \`svc admin\` need this server stopped: it cannot listen for them. ${message}`)
    )
  )
)
