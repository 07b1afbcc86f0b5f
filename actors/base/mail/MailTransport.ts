import { Context, type Effect, Schema } from "effect"

export interface OutgoingMail {
  /** Every attempt uses the same id, so that mail programs can detect duplicates. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** The mail server did not accept a message. The error contains no address, no credential and no part of the body. */
export class MailNotSent extends Schema.TaggedError<MailNotSent>()("MailNotSent", {
  /** True if the mail server would reject the same message every time. */
  permanent: Schema.Boolean,
  /** Example: `ECONNECTION` or `RCPT TO 550`. */
  code: Schema.String
}) {}

/** The connection to the mail server. */
export class MailTransport extends Context.Service<
  MailTransport,
  {
    readonly send: (mail: OutgoingMail) => Effect.Effect<void, MailNotSent>
    /** Connects, verifies TLS and signs in. Sends nothing. */
    readonly verify: Effect.Effect<void, MailNotSent>
  }
>()("svc/actors/base/mail/MailTransport") {}
