import { Context, Effect, Layer } from "effect"
import type { AuditEvent } from "../../../schema/records/AuditEvent.ts"
import type { Member, Project, Workspace } from "../../../schema/records/Workspace.ts"
import { everyPage, type Page, pageOf, type PageQuery } from "../Paging.ts"
import { SvcClient } from "../SvcClient.ts"
import { type Answer, answered, type Items } from "../SvcError.ts"
import type { PayloadOf, QueryOf } from "./RequestParts.ts"

export type ActivityFilter = Omit<QueryOf<"workspaces", "activity">, keyof PageQuery>

export interface WorkspacesShape {
  readonly get: (id: string) => Answer<Workspace>
  /** Streams the actor's Workspaces. */
  readonly list: () => Items<Workspace>
  readonly page: (query?: PageQuery) => Answer<Page<Workspace>>
  /** Creates a Workspace with the actor as its owner. */
  readonly create: (request: PayloadOf<"workspaces", "create">) => Answer<Workspace>
  readonly update: (id: string, change: PayloadOf<"workspaces", "update">) => Answer<Workspace>
  readonly projects: (id: string) => Items<Project>
  readonly createProject: (id: string, request: PayloadOf<"workspaces", "createProject">) => Answer<Project>
  /** Streams the actions that people took on records, newest first. */
  readonly activity: (id: string, filter?: ActivityFilter) => Items<AuditEvent>
}

export interface MembersShape {
  readonly list: (workspaceId: string) => Items<Member>
  /** Adds or invites a member. `link` is for the invited person and is returned only once. */
  readonly add: (
    workspaceId: string,
    request: PayloadOf<"workspaces", "addMember">
  ) => Answer<{ readonly member: Member; readonly link?: string }>
  readonly update: (
    workspaceId: string,
    subject: string,
    change: PayloadOf<"workspaces", "updateMember">
  ) => Answer<Member>
  readonly remove: (workspaceId: string, subject: string) => Answer<void>
}

const make = Effect.gen(function* () {
  const { workspaces } = yield* SvcClient
  const page: WorkspacesShape["page"] = (query = {}) =>
    Effect.map(answered(workspaces.list({ query })), (answer) => pageOf(answer.workspaces, answer))
  const inside = (id: string) => ({ workspaceId: id })

  return Workspaces.of({
    page,
    list: () => everyPage(page, {}),
    get: (id) => Effect.map(answered(workspaces.read({ params: inside(id) })), ({ workspace }) => workspace),
    create: (request) => Effect.map(answered(workspaces.create({ payload: request })), ({ workspace }) => workspace),
    update: (id, change) =>
      Effect.map(answered(workspaces.update({ params: inside(id), payload: change })), ({ workspace }) => workspace),
    projects: (id) =>
      everyPage(
        (query) =>
          Effect.map(answered(workspaces.projects({ params: inside(id), query })), (answer) =>
            pageOf(answer.projects, answer)
          ),
        {}
      ),
    createProject: (id, request) =>
      Effect.map(
        answered(workspaces.createProject({ params: inside(id), payload: request })),
        ({ project }) => project
      ),
    activity: (id, filter = {}) =>
      everyPage<ActivityFilter & PageQuery, AuditEvent>(
        (query) =>
          Effect.map(answered(workspaces.activity({ params: inside(id), query })), (answer) =>
            pageOf(answer.events, answer)
          ),
        filter
      )
  })
})

const makeMembers = Effect.gen(function* () {
  const { workspaces } = yield* SvcClient
  return Members.of({
    list: (workspaceId) =>
      everyPage(
        (query) =>
          Effect.map(answered(workspaces.members({ params: { workspaceId }, query })), (answer) =>
            pageOf(answer.members, answer)
          ),
        {}
      ),
    add: (workspaceId, request) => answered(workspaces.addMember({ params: { workspaceId }, payload: request })),
    update: (workspaceId, subject, change) =>
      Effect.map(
        answered(workspaces.updateMember({ params: { workspaceId, subject }, payload: change })),
        ({ member }) => member
      ),
    remove: (workspaceId, subject) => answered(workspaces.removeMember({ params: { workspaceId, subject } }))
  })
})

/** Manages Workspaces, which contain the Projects, Capsules and history that people share. */
export class Workspaces extends Context.Service<Workspaces, WorkspacesShape>()("svc/src/client/services/Workspaces") {
  static readonly layer: Layer.Layer<Workspaces, never, SvcClient> = Layer.effect(Workspaces, make)
}

/** Manages the members of a Workspace and their roles. */
export class Members extends Context.Service<Members, MembersShape>()("svc/src/client/services/Members") {
  static readonly layer: Layer.Layer<Members, never, SvcClient> = Layer.effect(Members, makeMembers)
}
