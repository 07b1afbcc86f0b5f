import { Schema } from "effect"
import { PoolName } from "./PoolName.ts"

/** Name of a set of credentials that the agents of a pool provide. The name is not secret. */
export const ProvidedName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, {
    description: "a name of up to 63 lower-case letters, digits and hyphens"
  })
)
export type ProvidedName = typeof ProvidedName.Type

/** Credentials that only the agents of a pool have. The control plane stores their name, never their values. */
export class ProvidedBy extends Schema.Opaque<ProvidedBy>()(
  Schema.Struct({ pool: PoolName, name: ProvidedName }).annotate({ identifier: "ProvidedBy" })
) {}
