import { describe, expect, test } from "bun:test"
import { type MailContent, mailText } from "../../../../actors/base/mail/MailTexts.ts"

const invitation = (workspace: string, inviter = "Olga"): MailContent => ({
  kind: "invitation",
  link: "https://svc.example.com/join#secret",
  expiresAt: "2026-01-02T03:04:05.000Z",
  workspace,
  role: "viewer",
  inviter
})

const languages = ["en", "ja"] as const

describe("Quoted names", () => {
  test.each([
    ["Acme", "Acme"],
    ["  spaced \t out  ", "spaced out"],
    ["Your bill\r\nBcc: eve@example.com", "Your bill Bcc: eve[@]example[.]com"],
    ["line\u2028break\u0085again", "line break again"],
    ["Pay at https://evil.example/x", "Pay at https[:]//evil[.]example/x"],
    ["www.evil.example", "www[.]evil[.]example"],
    ["evil\uff0eexample", "evil[.]example"],
    ["evil\u3002com", "evil[.]com"],
    ["\u3053\u3093\u306b\u3061\u306f\u3002\u4e16\u754c", "\u3053\u3093\u306b\u3061\u306f\u3002\u4e16\u754c"],
    ['Acme" is closed. Write to "us', "Acme' is closed. Write to 'us"],
    ["Acme\u300d\u300cx", "Acme''x"],
    ["\u202eemca", "U+202Eemca"],
    ["ac\u200bme", "acU+200Bme"],
    ["x".repeat(41), `${"x".repeat(40)}\u2026`],
    ["\ud83d\ude00".repeat(40), "\ud83d\ude00".repeat(40)]
  ])("the name %j appears as %j in a mail's subject and text, for the Workspace and the inviter", (name, shown) => {
    for (const language of languages) {
      const quoted = language === "en" ? `"${shown}"` : `\u300c${shown}\u300d`
      const { subject, text } = mailText(language, "Acme svc", invitation(name, name))
      expect(subject).toEndWith(quoted)
      expect(text.split("\n").filter((line) => line.endsWith(`: ${quoted}`))).toHaveLength(2)
      expect(subject).not.toMatch(/[\r\n]/)
    }
  })
})

test("the subject and first line of an invitation email begin with the server's text, not the inviter's", () => {
  const hostile = "Your account is locked"
  for (const language of languages) {
    const { subject, text } = mailText(language, "Acme svc", invitation(hostile, hostile))
    const [first = ""] = text.split("\n")
    expect(subject).toMatch(language === "en" ? /^Invitation to Acme svc: / : /^Acme svc への招待: /)
    expect(first).toContain("Acme svc")
    expect(first).not.toContain(hostile)
  }
})

test("an invitation shows the inviter's address if the name is missing, and escapes an address that looks like a link", () => {
  expect(mailText("en", "svc", invitation("Acme", "olga@example.com")).text).toContain("Invited by: olga@example.com\n")
  const page = mailText("en", "svc", invitation("Acme", "www.evil.example/x@example.com")).text
  expect(page).toContain('Invited by: "www[.]evil[.]example/x[@]example[.]com"\n')
})
