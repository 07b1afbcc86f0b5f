import type { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Sessions } from "../../../../../actors/access/account/Sessions.ts"
import type { Users } from "../../../../../actors/access/account/Users.ts"
import type { CapsuleClients } from "../../../../../actors/access/issuer/CapsuleClients.ts"
import type { IssuerSettings } from "../../../../../actors/access/issuer/IssuerSettings.ts"
import type { Workspaces } from "../../../../../actors/ledger/workspace/Workspaces.ts"
import type { TestIssuer } from "./IssuerFixture.ts"
import type { TestTime } from "./TestTime.ts"

/** The tools available to a check: the issuer, seen from outside, and its accounts for setup. */
export type CheckServices =
  | CapsuleClients
  | TestIssuer
  | TestTime
  | IssuerSettings
  | Sessions
  | SqlClient.SqlClient
  | Users
  | Workspaces

/** A named check that runs against the issuer or a faulty copy of it, and dies if the check fails. */
export interface Module {
  readonly name: string
  readonly check: Effect.Effect<unknown, unknown, CheckServices>
}
