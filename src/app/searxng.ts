import * as z from 'zod';
import { KaiwuError } from '../core/errors.ts';
import type { WebProvider } from '../core/ports/web.ts';
import { isServiceBase, SERVICE_BASE } from '../core/service-base.ts';

const whole = (max: number) =>
  z
    .string()
    .regex(/^\d{1,3}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(max));

/** Variables after `KAIWU_SEARXNG_`, each with what it takes. */
const VARIABLES = {
  BASE_URL: { schema: z.string().refine(isServiceBase), takes: SERVICE_BASE },
  MAX_RESULTS: { schema: whole(20), takes: 'a number from 1 to 20' },
  DEFAULT_LANGUAGE: {
    schema: z.string().regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?$|^all$/),
    takes: 'a language such as en or zh-CN',
  },
  TIMEOUT_SECONDS: { schema: whole(300), takes: 'a number of seconds from 1 to 300' },
};

/** SearXNG as the environment sets it up; undefined where it does not. @throws invalid_input naming the variable */
export function searxngOf(env: NodeJS.ProcessEnv): WebProvider | undefined {
  const enabled = env['KAIWU_SEARXNG_ENABLED'] ?? '';
  if (!/^(|true|false|1|0)$/.test(enabled)) throw bad('ENABLED', enabled, 'true or false');
  const read = <T>(name: keyof typeof VARIABLES, schema: z.ZodType<T>): T | undefined => {
    const value = env[`KAIWU_SEARXNG_${name}`];
    if (value === undefined || value === '') return undefined;
    const parsed = schema.safeParse(value);
    if (!parsed.success) throw bad(name, value, VARIABLES[name].takes);
    return parsed.data;
  };
  const base = read('BASE_URL', VARIABLES.BASE_URL.schema);
  const max = read('MAX_RESULTS', VARIABLES.MAX_RESULTS.schema);
  const language = read('DEFAULT_LANGUAGE', VARIABLES.DEFAULT_LANGUAGE.schema);
  const seconds = read('TIMEOUT_SECONDS', VARIABLES.TIMEOUT_SECONDS.schema);
  if (enabled !== 'true' && enabled !== '1') return undefined;
  if (base === undefined) throw bad('BASE_URL', '', VARIABLES.BASE_URL.takes);
  return {
    id: 'searxng',
    kind: 'searxng',
    base_url: base,
    ...(max === undefined ? {} : { max_results: max }),
    ...(language === undefined ? {} : { default_language: language }),
    ...(seconds === undefined ? {} : { timeout_seconds: seconds }),
  };
}

const bad = (name: string, value: string, takes: string): KaiwuError =>
  new KaiwuError('invalid_input', `KAIWU_SEARXNG_${name} is ${JSON.stringify(value.slice(0, 100))}.`, {
    hint: `It takes ${takes}.`,
  });
