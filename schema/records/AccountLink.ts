import { Schema } from "effect"
import { Timestamp } from "./Primitives.ts"

/** Why a one-time link no longer works. */
const EndedState = Schema.Literals(["used", "expired"])

const SetupPurpose = Schema.Literals(["first_account", "recovery"])

/**
 * What a setup link is for, and whether it still works. Whoever holds a valid link for an account is about to sign in, and so may
 * see its address; an expired link only states what it was for. `used` also applies to a first-account link when the first
 * account was created in another way.
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

/** What an address-change link changes, and whether it still works. */
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
