import { renderToStaticMarkup } from "react-dom/server"
import { FirstFrame } from "./app/FirstFrame.tsx"
import { Join } from "./signed-out/Join.tsx"
import { joinWords } from "./signed-out/JoinWords.ts"
import { Setup } from "./signed-out/Setup.tsx"
import { setupWords } from "./signed-out/SetupWords.ts"
import { SignIn } from "./signed-out/SignIn.tsx"
import { signedOutWords } from "./signed-out/Words.ts"
import { FixedLanguage } from "./words/Words.ts"

/** Pages before sign-in. Their HTML contains their text, so they can be read without scripts. */
export const signedOutPages = ["sign-in", "setup", "join"] as const

type Language = "en" | "ja"

interface PageParts {
  readonly page: "app" | (typeof signedOutPages)[number]
  readonly language: Language
  readonly style: string
  readonly boot: string
  readonly icon: string
  /** The typeface of most text. Other typefaces are loaded when an element uses them. */
  readonly font: string
  /** The script for the worker that compares long values. */
  readonly differenceWorker: string
  /** The script for the worker that parses Markdown. */
  readonly readmeWorker: string
  /** The scripts that the entry imports, followed by the entry itself. */
  readonly scripts: ReadonlyArray<string>
  /** The lazily loaded modules that the page needs, fetched in parallel with the entry module. */
  readonly parts: ReadonlyArray<string>
}

const titles = (page: PageParts["page"], language: Language): string => {
  const words = signedOutWords[language]
  if (page === "app") return "svc"
  return `${{ setup: setupWords[language].title, "sign-in": words.signInTitle, join: joinWords[language].title }[page]} · svc`
}

const content = (page: PageParts["page"]) => {
  if (page === "app") return <FirstFrame />
  if (page === "join") return <Join />
  return page === "setup" ? <Setup /> : <SignIn />
}

export const pageHtml = ({
  page,
  language,
  style,
  boot,
  icon,
  font,
  differenceWorker,
  readmeWorker,
  scripts,
  parts
}: PageParts): string => {
  const entry = scripts.at(-1)
  const markup = renderToStaticMarkup(
    <html lang={language}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="same-origin" />
        <title>{titles(page, language)}</title>
        <link rel="icon" type="image/svg+xml" href={icon} />
        <link rel="preload" as="font" type="font/woff2" href={font} crossOrigin="anonymous" />
        <link rel="stylesheet" href={style} />
        {[...scripts.slice(0, -1), ...parts].map((script) => (
          <link key={script} rel="modulepreload" href={script} />
        ))}
        <script type="module" src={entry} />
      </head>
      <body>
        <div
          id="root"
          data-page={page}
          data-difference-worker={page === "app" ? differenceWorker : undefined}
          data-readme-worker={page === "app" ? readmeWorker : undefined}
        >
          <FixedLanguage value={language}>{content(page)}</FixedLanguage>
        </div>
        {page === "app" ? (
          <noscript className="no-script">
            <p>svc needs JavaScript to show this page.</p>
            <p lang="ja">このページの表示には JavaScript が必要です。</p>
          </noscript>
        ) : null}
      </body>
    </html>
  )
  // This script must come first: a script after a style sheet would wait for the style sheet, and the renderer moves
  // preloads before scripts.
  return `<!doctype html>${markup.replace("<head>", `<head><script src="${boot}"></script>`)}`
}
