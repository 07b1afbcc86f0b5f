// The generator's own theme, with the typefaces of the system: its own ones would be two thirds of what a binary stores of the
// site.
import theme from "vitepress/theme-without-fonts"
import "./Pages.css"

export default theme
