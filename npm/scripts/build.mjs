// Builds the program for the platforms that are named (node npm/scripts/build.mjs linux-x64), or, without a name, for all whose
// compiler Debian has. CC names another compiler, as on the native runners of the release.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { licencesOf } from './licences.mjs'
import { fail, has, named, noticesOf, platforms, programOf, run, version } from './platforms.mjs'

const names = process.argv.slice(2)
for (const platform of names.length > 0 ? named(names) : platforms.filter(({ here }) => here)) {
  const compiler = process.env.CC || platform.here
  if (!compiler) fail(`${platform.name} is built on a runner of its own system (${platform.runner}): name its compiler with CC`)
  if (!has(compiler)) fail(`${platform.name} needs ${compiler}: docs/reference/platforms.md says what to install`)
  compile(platform, compiler)
  if (platform.static && platform.os === 'linux') requireStatic(programOf(platform))
  writeFileSync(noticesOf(platform), licencesOf(platform))
}

function compile(platform, compiler) {
  const program = programOf(platform)
  // Nothing loads extensions of SQLite, and a static program could not. Names of hosts and users come from Go alone.
  const tags = ['sqlite_fts5', 'sqlite_omit_load_extension', 'netgo', 'osusergo']
  const flags = ['-s', '-w', '-X', `session-sidecar/internal/version.Version=${version}`]
  if (platform.static) flags.push('-linkmode', 'external', '-extldflags', '-static')
  mkdirSync(dirname(program), { recursive: true })
  console.log(`building ${platform.name} with ${compiler}`)
  run('go', ['build', '-buildvcs=false', '-trimpath', `-tags=${tags}`, `-ldflags=${flags.join(' ')}`, '-o', program, './cmd/sidecar'], {
    env: {
      ...process.env, CGO_ENABLED: '1', CC: compiler, GOOS: platform.goos, GOARCH: platform.goarch,
      MACOSX_DEPLOYMENT_TARGET: '12.0', // the oldest macOS that Go's programs run on, whichever one builds them
    },
  })
}

/** A program that asks for a loader runs only where that loader is: readelf tells what it asks for. */
function requireStatic(program) {
  const headers = execFileSync('readelf', ['--wide', '--program-headers', program], { encoding: 'utf8' })
  if (/INTERP|DYNAMIC/.test(headers)) fail(`${program} is not static`)
}
