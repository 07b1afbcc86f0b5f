import { Effect, Layer } from "effect"
import { MailDelivery } from "../../../../../actors/base/mail/MailDelivery.ts"
import { MailSettings } from "../../../../../actors/base/mail/MailSettings.ts"
import { type MailNotSent, MailTransport, type OutgoingMail } from "../../../../../actors/base/mail/MailTransport.ts"
import { testAccounts } from "../../../../support/Accounts.ts"

/** Records sent emails, and can be switched to fail. */
export const post: { sent: Array<OutgoingMail>; refusal: MailNotSent | undefined; attempts: number } = {
  sent: [],
  refusal: undefined,
  attempts: 0
}

const transport = Layer.effect(
  MailTransport,
  Effect.sync(() => {
    Object.assign(post, { sent: [], refusal: undefined, attempts: 0 })
    return MailTransport.of({
      verify: Effect.void,
      send: (mail) =>
        Effect.suspend(() => {
          post.attempts++
          if (post.refusal !== undefined) return Effect.fail(post.refusal)
          post.sent.push(mail)
          return Effect.void
        })
    })
  })
)

const origin = { baseUrl: "https://svc.example.com", name: "Acme svc", language: "en" } as const
const settings = Layer.succeed(MailSettings, { origin })
/** Sets up accounts on a server that can send mail. Tests trigger the delivery of queued emails. */
export const layer = MailDelivery.layerByHand.pipe(
  Layer.provide(transport),
  Layer.provideMerge(testAccounts.pipe(Layer.provide(settings)))
)

export const deliver = Effect.flatMap(MailDelivery, ({ deliverDue }) => deliverDue)
