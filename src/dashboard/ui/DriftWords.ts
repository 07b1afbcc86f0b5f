/** Texts for the result of a drift check. */
export const driftWords = {
  en: { found: "Drift found", none: "No drift" },
  ja: { found: "ドリフトあり", none: "ドリフトなし" }
}
