import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { SvcApi } from "../../../../schema/api/SvcApi.ts"
import { apiMiddleware } from "../../../../src/http/ApiRoutes.ts"
import { reached } from "./FakeActors.ts"

const refuse = () => Effect.fail(reached)

/** The Workspace routes, with handlers that refuse every call. */
export const fakeWorkspaces = HttpApiBuilder.group(SvcApi, "workspaces", (handlers) =>
  handlers.handleAll({
    inventory: refuse,
    list: refuse,
    create: refuse,
    read: refuse,
    update: refuse,
    setAutomation: refuse,
    members: refuse,
    addMember: refuse,
    updateMember: refuse,
    removeMember: refuse,
    handOver: refuse,
    projects: refuse,
    createProject: refuse,
    readProject: refuse,
    graph: refuse,
    uiSurfaces: refuse,
    activity: refuse,
    materializationFailures: refuse,
    retryMaterialization: refuse,
    usage: refuse,
    billing: refuse,
    backups: refuse,
    createBackup: refuse,
    planUpdate: refuse,
    driftCheck: refuse,
    currentStateVersions: refuse,
    runs: refuse,
    runFacets: refuse,
    capsules: refuse
  })
).pipe(Layer.provide(apiMiddleware))

/** The routes for single members, with handlers that refuse every call. */
export const fakeMembers = HttpApiBuilder.group(SvcApi, "members", (handlers) =>
  handlers.handleAll({ departure: refuse, tokens: refuse, createToken: refuse, revokeToken: refuse })
).pipe(Layer.provide(apiMiddleware))

/** The invitation routes, with handlers that refuse every call. */
export const fakeInvitations = HttpApiBuilder.group(SvcApi, "invitations", (handlers) =>
  handlers.handleAll({
    list: refuse,
    create: refuse,
    revoke: refuse,
    inspect: refuse,
    accept: refuse,
    decline: refuse
  })
).pipe(Layer.provide(apiMiddleware))

/** The routes for teams, with handlers that refuse every call. */
const fakeTeams = HttpApiBuilder.group(SvcApi, "teams", (handlers) =>
  handlers.handleAll({ list: refuse, create: refuse, update: refuse, remove: refuse })
).pipe(Layer.provide(apiMiddleware))

const fakeApprovals = HttpApiBuilder.group(SvcApi, "approvals", (handlers) =>
  handlers.handleAll({
    rules: refuse,
    createRule: refuse,
    updateRule: refuse,
    removeRule: refuse,
    ofRun: refuse,
    ask: refuse
  })
).pipe(Layer.provide(apiMiddleware))

const fakeAudit = HttpApiBuilder.group(SvcApi, "audit", (handlers) =>
  handlers.handleAll({ export: refuse, head: refuse })
).pipe(Layer.provide(apiMiddleware))

export const fakeNotices = HttpApiBuilder.group(SvcApi, "notices", (handlers) =>
  handlers.handleAll({
    endpoints: refuse,
    createEndpoint: refuse,
    readEndpoint: refuse,
    updateEndpoint: refuse,
    removeEndpoint: refuse,
    rotateSecret: refuse,
    testEndpoint: refuse,
    deliveries: refuse,
    readDelivery: refuse,
    replayDelivery: refuse,
    mails: refuse,
    chooseMails: refuse
  })
).pipe(Layer.provide(apiMiddleware))

export const fakeTeamGroups = Layer.mergeAll(fakeTeams, fakeApprovals, fakeAudit, fakeNotices)

/** The groups that the composition adds, behind the same middleware. */
export const remainingGroups = Layer.mergeAll(
  HttpApiBuilder.group(SvcApi, "accountTokens", (handlers) =>
    handlers.handleAll({
      list: refuse,
      scopes: refuse,
      create: refuse,
      revoke: refuse,
      inventory: refuse,
      current: refuse
    })
  ),
  fakeWorkspaces,
  fakeMembers,
  fakeInvitations,
  fakeTeamGroups
).pipe(Layer.provide(apiMiddleware))
