import { Effect, Layer } from "effect"
import { MailDelivery } from "../../actors/base/mail/MailDelivery.ts"
import { MailSettings } from "../../actors/base/mail/MailSettings.ts"
import { HttpListener } from "../http/HttpListener.ts"
import { smtpTransport } from "../mail/SmtpTransport.ts"
import { mailServer, type Settings } from "../settings/Settings.ts"

const originOf = (settings: Settings, baseUrl: string | undefined) => ({
  origin:
    baseUrl === undefined || mailServer(settings) === undefined
      ? undefined
      : { baseUrl, name: settings.name, language: settings.mailLanguage }
})

/** The details of the server that emails contain. */
export const mailSettings = (settings: Settings) =>
  Layer.effect(
    MailSettings,
    Effect.map(HttpListener, ({ url }) => originOf(settings, settings.baseUrl ?? url))
  )

/**
 * Like `mailSettings`, but for a command that runs without a server. The links in its emails require a configured address.
 */
export const offlineMailSettings = (settings: Settings) =>
  Layer.succeed(MailSettings, originOf(settings, settings.baseUrl))

/** Sends queued emails in the background, if the settings specify a mail server. */
export const mailDelivery = (settings: Settings) => {
  const server = mailServer(settings)
  return server === undefined ? Layer.empty : MailDelivery.layer.pipe(Layer.provide(smtpTransport(server)))
}
