import { HttpServerResponse } from "effect/http"
import { html, page, placeOf } from "./Page.ts"
import type { Language } from "./PageWords.ts"

const words = {
  en: { title: "One moment", onward: (place: string) => `Continue to ${place}` },
  ja: { title: "お待ちください", onward: (place: string) => `${place} に進む` }
} as const satisfies Readonly<Record<Language, unknown>>

export interface Onward {
  readonly language: Language
  readonly title: string
  /** Text of the link, for browsers that do not continue automatically. */
  readonly text: string
  /** Address to open. The caller guarantees that this server wrote it or that a client registered it. */
  readonly address: string
}

/**
 * Creates a page without scripts that continues automatically to an address, as a new navigation. A redirect would still be
 * part of the form submission, and browsers restrict all redirects of a form submission to the targets that the form's
 * policy allows. However, the application may redirect to a target that this server does not know in advance.
 */
export const onwardPage = ({ address, language, text, title }: Onward) =>
  HttpServerResponse.setHeaders(
    page({ language, title, body: html`<h1>${title}</h1><p><a id="onward" href="${address}">${text}</a></p>` }),
    {
      refresh: `0; url=${address}`,
      // Send no referrer, because the address may contain a code. The page has no form, so no request from it needs an
      // origin.
      "referrer-policy": "no-referrer"
    }
  )

/** Redirects from this server's pages to an application's registered address. */
export const leavingPage = (language: Language, address: string) => {
  const { onward, title } = words[language]
  return onwardPage({ language, title, text: onward(placeOf(address)), address })
}
