// Prints the version of the packages.
import { version } from './platforms.mjs'

console.log(version)
