import { Effect, Schema } from "effect"
import { invalidRequest } from "../../schema/errors/ApiError.ts"
import { WorkspaceId } from "../../schema/records/Ids.ts"

const decode = Schema.decodeUnknownEffect(Schema.UndefinedOr(WorkspaceId))

/** Checks the id of the Workspace to which a host confines an actor or a token. */
export const placeOf = ({ workspaceId }: { readonly workspaceId?: string | undefined }) =>
  decode(workspaceId).pipe(
    Effect.map((id) => ({ workspaceId: id })),
    Effect.mapError(() => invalidRequest("The id of the Workspace is malformed. Expected an id that starts with ws_."))
  )
