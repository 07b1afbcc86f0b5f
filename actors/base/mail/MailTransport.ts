import { Context, type Effect, Schema } from "effect"

export interface OutgoingMail {
  /** The same for every attempt, so that a mail program can recognise a duplicate. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** The mail server did not accept a message. Neither field contains an address, a credential, or any of the message's body. */
export class MailNotSent extends Schema.TaggedError<MailNotSent>()("MailNotSent", {
  /** True if the mail server would refuse the same message again. */
  permanent: Schema.Boolean,
  /** E.g. `ECONNECTION` or `RCPT TO 550`. */
  code: Schema.String
}) {}

/** The connection to the mail server. */
export class MailTransport extends Context.Service<
  MailTransport,
  {
    readonly send: (mail: OutgoingMail) => Effect.Effect<void, MailNotSent>
    /** Connects, verifies TLS and signs in, without sending anything. */
    readonly verify: Effect.Effect<void, MailNotSent>
  }
>()("svc/actors/base/mail/MailTransport") {}
