import { Schema } from "effect"

/** The pool that the control plane itself provides. It needs no agent, and cannot be created, changed or removed. */
export const localPool = "local"

/** The name of a pool of agents, chosen by an operator. */
export const PoolName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, {
    description: "a name of up to 63 lower-case letters, digits and hyphens"
  })
).pipe(Schema.brand("PoolName"))
export type PoolName = typeof PoolName.Type
