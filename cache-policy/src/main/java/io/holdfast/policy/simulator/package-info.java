/**
 * Predicts the hits of a policy on a dataset, before anybody buys memory for it: {@link
 * io.holdfast.policy.simulator.Simulator} plays epochs, nodes and jobs against the policies that
 * the mount uses, and {@link io.holdfast.policy.simulator.FetchModel} turns the shares into time.
 * Deterministic: the same scenario gives the same figures.
 */
@NullMarked
package io.holdfast.policy.simulator;

import org.jspecify.annotations.NullMarked;
