import { Context } from "effect"
import type { MailLanguage } from "./MailTexts.ts"

/** The server's name and address in its mails. */
export interface MailOrigin {
  /** Base address for links, without a trailing slash. */
  readonly baseUrl: string
  /** The server's display name. */
  readonly name: string
  readonly language: MailLanguage
}

/** `undefined` if no mail server is configured, in which case nothing is queued and people pass links on themselves. */
export const MailSettings = Context.Reference<{ readonly origin: MailOrigin | undefined }>(
  "svc/actors/base/mail/MailSettings",
  {
    defaultValue: () => ({ origin: undefined })
  }
)
