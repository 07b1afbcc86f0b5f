import { Context, type Effect } from "effect"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { InterfaceId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { Interface, InterfaceMaterializationFailure } from "../../../schema/records/Interface.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"

type Failure = typeof InterfaceMaterializationFailure.Type

/** Reads Interfaces, and retries failed materialisations. */
export class Interfaces extends Context.Service<
  Interfaces,
  {
    /**
     * Returns the Interfaces that this person may open in a Workspace: resolved Interfaces of existing Capsules, with a ready
     * `ui.open` binding. `capsuleId` only filters the result. Read-only.
     */
    readonly uiSurfaces: (
      workspaceId: WorkspaceId,
      subject: string,
      filter: { readonly capsuleId?: string | undefined },
      page: PageRequest
    ) => Effect.Effect<Page<Interface>, ApiError>
    /** Returns the Interfaces that could not be materialised, newest first. Includes no values. */
    readonly failures: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<Failure>, ApiError>
    /** Retries a failure. Fails with `guard_conflict` if the current failure is not the one that the caller expects. */
    readonly retry: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      intentId: string,
      expected: { readonly attempt: number; readonly code: string }
    ) => Effect.Effect<Failure, ApiError>
    /**
     * Checks the current state of the Interface, the binding, the Capsule and the membership. Fails with `permission_denied`
     * if one of them is not valid. Called before each token is issued and before each invocation.
     */
    readonly authorize: (use: {
      readonly subject: string
      readonly interfaceId: InterfaceId
      readonly permission: string
      readonly delivery: string
    }) => Effect.Effect<Interface, ApiError>
  }
>()("svc/actors/ledger/interface/Interfaces") {}
