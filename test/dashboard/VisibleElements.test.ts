import { describe, expect, test } from "bun:test"
import { renderToStaticMarkup } from "react-dom/server"
import { Fragment, jsx, jsxDEV, jsxs } from "../../src/dashboard/jsx/VisibleElements.ts"
import { Notice } from "../../src/dashboard/ui/Feedback.tsx"

const hostile = "prod\u202ecod\u200b"
const shown = "prodU+202EcodU+200B"

describe("Visible characters", () => {
  test.each([
    ["alone", jsx("p", { children: hostile }), `<p>${shown}</p>`],
    ["among others", jsxs("p", { children: [hostile, 1, "x"] }), `<p>${shown}1x</p>`],
    ["in a list", jsx("p", { children: [[hostile], ["x"]] }), `<p>${shown}x</p>`],
    ["without an element", jsx(Fragment, { children: hostile }), shown],
    ["in a development build", jsxDEV("p", { children: [hostile, "x"] }, undefined, true), `<p>${shown}x</p>`],
    ["in a hint", jsx("p", { title: hostile }), `<p title="${shown}"></p>`],
    ["read aloud", jsx("p", { "aria-label": hostile }), `<p aria-label="${shown}"></p>`],
    ["as an alternative", jsx("img", { alt: hostile }), `<img alt="${shown}"/>`]
  ])("%s", (_, element, markup) => {
    expect(renderToStaticMarkup(element)).toBe(markup)
  })
})

test("escaping does not change the value of a form field", () => {
  const field = jsx("input", { value: hostile, readOnly: true })
  expect(renderToStaticMarkup(field)).toContain(`value="${hostile}"`)
})

test("the screens are compiled with functions that escape text", () => {
  const notice = jsx(Notice, { tone: "info", title: hostile, children: hostile })
  const markup = renderToStaticMarkup(notice)
  expect(markup).toContain(`<strong>${shown}</strong>${shown}`)
  expect(markup).not.toMatch(/\p{Cf}/u)
})
