import { Effect, Layer } from "effect"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { MailTransport } from "../../../actors/base/mail/MailTransport.ts"
import { smtpTransport } from "../../mail/SmtpTransport.ts"
import { mailServer, type Settings } from "../../settings/Settings.ts"
import type { Finding } from "./DoctorReport.ts"

const faulty = (message: string, remedy: string): Finding => ({ check: "mail", status: "error", message, remedy })

/**
 * Checks whether the mail server accepts the configured login. Sends nothing. Returns no finding if no mail server is configured.
 */
export const mailFindings = (settings: Settings): Effect.Effect<ReadonlyArray<Finding>> => {
  const server = mailServer(settings)
  if (server === undefined) return Effect.succeed([])
  return Effect.flatMap(MailTransport, ({ verify }) => verify).pipe(
    Effect.as<Finding>({
      check: "mail",
      status: "ok",
      message: `The mail server ${server.url} responds and accepts the sign-in.`
    }),
    Effect.provide(smtpTransport(server).pipe(Layer.provide(NodeServices.layer))),
    Effect.catchTags({
      MailNotSent: ({ code }) =>
        Effect.succeed(
          faulty(
            `The mail server ${server.url} cannot be used (${code}).`,
            "Check SVC_SMTP_URL, the user and the password, and the certificate (SVC_SMTP_CA_FILE for one of your own)."
          )
        ),
      SettingsRefused: ({ message }) => Effect.succeed(faulty(message, "Name another file, or make it readable."))
    }),
    Effect.map((finding) => [finding])
  )
}
