import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { type DeliveryRefused, refused } from "./DeliveryRefused.ts"
import { assignedEndpoint, EndpointPolicy } from "./EndpointPolicy.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { rowShape } from "../../base/database/Table.ts"

/** The values of an `http.endpoint` requirement, keyed by slot. */
export interface EndpointValues {
  readonly url: string
  readonly subdomain?: string
  readonly routePattern?: string
  /** Used only to register an identity; no slot delivers these values. */
  readonly postLogoutPaths?: ReadonlyArray<string>
}

/** Columns for looking up an assignment. */
export type EndpointOwner = Pick<CapsuleRow, "id" | "workspace_id" | "project_id" | "name" | "environment">

const OwnerNames = rowShape({ workspace: Schema.String, project: Schema.String, homonyms: Schema.Int })

/** Looks up the endpoints that the operator has assigned. */
export class Endpoints extends Context.Service<
  Endpoints,
  { readonly resolve: (capsule: EndpointOwner) => Effect.Effect<EndpointValues, DeliveryRefused> }
>()("svc/actors/inputs/delivery/Endpoints") {
  static readonly layer = Layer.effect(
    Endpoints,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const assigned = yield* EndpointPolicy

      const resolve = Effect.fn("Endpoints.resolve")(function* (capsule: EndpointOwner) {
        const [owner] = yield* Effect.orDie(OwnerNames.rows(sql)`SELECT w.handle AS workspace, p.slug AS project,
            (SELECT COUNT(*) FROM capsules o WHERE o.workspace_id = ${capsule.workspace_id} AND o.id <> ${capsule.id}
              AND o.name = ${capsule.name} AND o.environment = ${capsule.environment} AND ${sql.literal(livingCapsule("o."))}) AS homonyms
          FROM workspaces w JOIN projects p ON p.id = ${capsule.project_id} WHERE w.id = ${capsule.workspace_id}`)
        if (owner === undefined) return yield* refused("endpoint_not_available", "The Capsule's Project is gone.")
        const { postLogoutPaths, routePattern, subdomain, url } = yield* Effect.fromResult(
          assignedEndpoint(assigned.endpoints, { ...owner, capsule: capsule.name, environment: capsule.environment })
        )
        return {
          url,
          ...(subdomain === undefined ? {} : { subdomain }),
          ...(routePattern === undefined ? {} : { routePattern }),
          ...(postLogoutPaths === undefined ? {} : { postLogoutPaths })
        }
      })

      return Endpoints.of({ resolve })
    })
  )
}
