import { Context } from "effect"
import type { MailLanguage } from "./MailTexts.ts"

/** The server's name and address in mails. */
export interface MailOrigin {
  /** Base URL of links, without a trailing slash. */
  readonly baseUrl: string
  /** The server's display name. */
  readonly name: string
  readonly language: MailLanguage
}

/** `undefined` if no mail server is configured. svc then queues no mails, and people must share links themselves. */
export const MailSettings = Context.Reference<{ readonly origin: MailOrigin | undefined }>(
  "svc/actors/base/mail/MailSettings",
  {
    defaultValue: () => ({ origin: undefined })
  }
)
