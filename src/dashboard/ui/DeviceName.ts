const browsers: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bEdg(?:A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrome\/|\bCriOS\/|HeadlessChrome/, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//, "curl"]
]

const systems: ReadonlyArray<readonly [RegExp, string]> = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/Linux|X11/, "Linux"]
]

const first = (rules: ReadonlyArray<readonly [RegExp, string]>, text: string): string | undefined =>
  rules.find(([pattern]) => pattern.test(text))?.[1]

/**
 * Returns a name such as "Firefox · Linux" that reminds the owner of the device. The browser can claim any name, so svc
 * never bases a decision on it.
 */
export const deviceName = (userAgent: string | null): string | undefined => {
  if (userAgent === null) return undefined
  const parts = [first(browsers, userAgent), first(systems, userAgent)].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(" · ")
}
