import { Schema } from "effect"
import { Timestamp } from "./Primitives.ts"

/** Why a one-time link no longer works. */
const EndedState = Schema.Literals(["used", "expired"])

const SetupPurpose = Schema.Literals(["first_account", "recovery"])

/**
 * What a setup link is for, and whether it still works. The holder of a live one for an account is about to get in, and so may
 * see its address; an ended one only says what it was for. `used` holds also for a link to a first account that was created in
 * another way.
 */
export const SetupLinkState = Schema.Union([
  Schema.Struct({ state: Schema.Literal("live"), purpose: Schema.Literal("first_account"), expiresAt: Timestamp }),
  Schema.Struct({
    state: Schema.Literal("live"),
    purpose: Schema.Literal("recovery"),
    email: Schema.String,
    expiresAt: Timestamp
  }),
  Schema.Struct({ state: EndedState, purpose: SetupPurpose })
])
export type SetupLinkState = typeof SetupLinkState.Type

/** What a link to another address changes, and whether it still works. */
export const AddressLinkState = Schema.Union([
  Schema.Struct({
    state: Schema.Literal("live"),
    from: Schema.String,
    to: Schema.String,
    expiresAt: Timestamp
  }),
  Schema.Struct({ state: EndedState })
])
export type AddressLinkState = typeof AddressLinkState.Type
