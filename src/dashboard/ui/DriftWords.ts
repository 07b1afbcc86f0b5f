/** How a drift check ended. */
export const driftWords = {
  en: { found: "Drift found", none: "No drift" },
  ja: { found: "ドリフトあり", none: "ドリフトなし" }
}
