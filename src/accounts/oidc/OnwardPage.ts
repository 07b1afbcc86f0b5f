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
  /** The text of the link, for browsers that do not continue automatically. */
  readonly text: string
  /** Either written by us or registered; the caller guarantees this. */
  readonly address: string
}

/**
 * A page that continues automatically to an address, as a new navigation and without a script. A redirect would still be part of
 * a form submission: browsers restrict it, and every subsequent redirect, to the form's allowed targets, and we do not know where
 * an application redirects people next.
 */
export const onwardPage = ({ address, language, text, title }: Onward) =>
  HttpServerResponse.setHeaders(
    page({ language, title, body: html`<h1>${title}</h1><p><a id="onward" href="${address}">${text}</a></p>` }),
    {
      refresh: `0; url=${address}`,
      // The page has no form, so nobody needs its origin, and an address with a code must not be sent as a Referer.
      "referrer-policy": "no-referrer"
    }
  )

/** Leaves our pages for an application's registered address. */
export const leavingPage = (language: Language, address: string) => {
  const { onward, title } = words[language]
  return onwardPage({ language, title, text: onward(placeOf(address)), address })
}
