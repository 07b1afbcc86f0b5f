import { Context, type Effect } from "effect"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { InterfaceId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { Interface, InterfaceMaterializationFailure } from "../../../schema/records/Interface.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"

type Failure = typeof InterfaceMaterializationFailure.Type

/** Reads of Interfaces, and retries of failed materialisations. */
export class Interfaces extends Context.Service<
  Interfaces,
  {
    /**
     * The Interfaces of a Workspace that this person may open: resolved Interfaces of existing Capsules, with a ready `ui.open`
     * binding for the person. `capsuleId` only narrows the result. Writes nothing.
     */
    readonly uiSurfaces: (
      workspaceId: WorkspaceId,
      subject: string,
      filter: { readonly capsuleId?: string | undefined },
      page: PageRequest
    ) => Effect.Effect<Page<Interface>, ApiError>
    /** The Interfaces that could not be materialised, without values, newest first. */
    readonly failures: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<Failure>, ApiError>
    /** Tries again if the failure is still exactly the expected one; fails with `guard_conflict` otherwise. */
    readonly retry: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      intentId: string,
      expected: { readonly attempt: number; readonly code: string }
    ) => Effect.Effect<Failure, ApiError>
    /**
     * Checked on every use: the current Interface, binding, Capsule and membership. Fails with `permission_denied` if any of them
     * is not valid. Both issuing a token and invoking an Interface go through this check first.
     */
    readonly authorize: (use: {
      readonly subject: string
      readonly interfaceId: InterfaceId
      readonly permission: string
      readonly delivery: string
    }) => Effect.Effect<Interface, ApiError>
  }
>()("svc/actors/ledger/interface/Interfaces") {}
