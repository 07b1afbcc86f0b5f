import { Schema } from "effect"
import { Timestamp } from "./Primitives.ts"

/** Reasons why a one-time link no longer works. */
const EndedState = Schema.Literals(["used", "expired"])

const SetupPurpose = Schema.Literals(["first_account", "recovery"])

/**
 * Purpose and state of a setup link. The holder of a valid link is about to sign in, so the link reveals the account's address;
 * an expired link reveals only its purpose. A link for the first account also counts as `used` if that account was created
 * in another way.
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

/** The change that an address link confirms, and whether the link still works. */
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
