import { Schema } from "effect"
import { Timestamp } from "./Primitives.ts"

/** Reasons why a one-time link no longer works. */
const EndedState = Schema.Literals(["used", "expired"])

const SetupPurpose = Schema.Literals(["first_account", "recovery"])

/**
 * The purpose and validity of a setup link. The holder of a valid link for an account is about to sign in, and so may see its
 * address; an expired link only reveals its purpose. `used` also applies to a first-account link when the first account was
 * created in another way.
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

/** The change that an address-change link makes, and the link's validity. */
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
