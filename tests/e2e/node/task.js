// What every client has to do, and the gateway that it does it with.
import assert from 'node:assert/strict';

export const url = process.env.TOOLWIRE_URL;
assert.ok(url, 'TOOLWIRE_URL is the address of the gateway');

// Which protocol the upstream speaks is chosen by the model's name.
export const upstreams = ['chat', 'messages', 'responses'];

export const both = 'What is the weather in Oslo and Rome?';
export const answer =
  '✓ The tools were run.\n' +
  'get_weather answered: “5 °C in Oslo”\nget_weather answered: “5 °C in Rome”';

export const city = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

export const weatherIn = (place) => `5 °C in ${place}`;

// The rejection of a promise, which has to be of this class.
export async function rejection(promise, kind) {
  const error = await promise.then(
    () => assert.fail(`${kind.name} was expected`),
    (error) => error,
  );
  assert.ok(error instanceof kind, `${kind.name} was expected, not ${error}`);
  return error;
}
