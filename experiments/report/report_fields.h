/// \file
/// The fields of report.json's plain objects, each listed once for writing and for reading.
/// Heavy; for the report's own sources only.
#pragma once

#include "experiments/compare/comparison.h"
#include "experiments/report/field_archives.h"

namespace zerolab {

template <class Archive, class Config>
void config_fields(Archive&& a, Config& c) {
  a("stages", c.stages);
  a("ranks", c.ranks);
  a("comm", c.comm);
  a("device", c.device);
  a("model", c.model);
  a("data", c.data);
  a("steps", c.steps);
  a("micro_batch", c.micro_batch);
  a("accumulate", c.accumulate);
  a("sequence", c.sequence);
  a("precision", c.precision);
  a("accumulate_dtype", c.accumulate_dtype);
  a("loss_scale", c.loss_scale.fixed);
  a("loss_scale_initial_power", c.loss_scale.initial_power);
  a("loss_scale_window", c.loss_scale.window);
  a("loss_scale_hysteresis", c.loss_scale.hysteresis);
  a("loss_scale_minimum", c.loss_scale.minimum);
  a("dropout", c.dropout);
  a("padding", c.padding);
  a("checkpoint_every", c.checkpoint_every);
  a("skip_block_every", c.skip_block_every);
  a("optimizer", c.optimizer.name);
  a("beta1", c.optimizer.beta1);
  a("beta2", c.optimizer.beta2);
  a("epsilon", c.optimizer.epsilon);
  a("momentum", c.optimizer.momentum);
  a("weight_decay", c.optimizer.weight_decay);
  a("muon_momentum", c.optimizer.muon_momentum);
  a("adamw_learning_rate", c.adamw_learning_rate);
  a.enumerator("lamb_norms", c.optimizer.lamb_norms, 2);
  a("parameter_groups", c.groups);
  a("frozen", c.frozen);
  a("learning_rate", c.learning_rate);
  a("warmup_steps", c.warmup_steps);
  a.enumerator("warmup_shape", c.warmup_shape, kWarmupShapeCount);
  a("warmup_min_lr", c.warmup_min_lr);
  a.enumerator("schedule", c.decay, kDecayCount);
  a("final_lr_fraction", c.final_lr_fraction);
  a("schedule_steps", c.schedule_steps);
  a.enumerator("step_count", c.step_count, kStepCountCount);
  a("clip", c.clip);
  a("seed", c.seed);
  a.enumerator("reduction", c.reduction, 4);
  a("reduce_dtype", c.reduce_dtype);
  a.enumerator("accumulation_order", c.accumulation_order, 2);
  a("usual_order", c.usual_order);
  a("overlap", c.overlap);
  a("bucket_mb", c.bucket_mb);
  a("threads", c.threads);
  a("ranks_per_node", c.ranks_per_node);
  a("evaluate_every", c.evaluate_every);
  a("held_out_batches", c.held_out_batches);
  a("timeout_seconds", c.timeout_seconds);
  a("checks", c.checks);
  a("jitter", c.jitter);
  a("poison", c.poison);
  a("guarded", c.guarded);
  a("fault", c.fault);
  a("load_weights", c.load_weights);
  a("save_weights", c.save_weights);
  a("config_file", c.config_file);
  a("baseline", c.baseline);
  a("trace", c.trace);
}

template <class Archive, class Environment_>
void environment_fields(Archive&& a, Environment_& e) {
  a("key", e.key);
  a("version", e.version);
  a("compiler", e.compiler);
  a("flags", e.flags);
  a("cpu", e.cpu);
  a("os", e.os);
  a("eigen", e.eigen);
  a("mpi", e.mpi);
  a("started_at", e.started_at);
}

template <class Archive, class Finding_>
void finding_fields(Archive&& a, Finding_& f) {
  a("check", f.check);
  a("step", f.step);
  a("phase", f.phase);
  a("tensor", f.tensor);
  a("rank", f.rank);
  a("element", f.element);
  a("expected", f.expected);
  a("value", f.value);
  a("ulp", f.ulp);
  a("message", f.message);
}

template <class Archive, class Divergence_>
void divergence_fields(Archive&& a, Divergence_& d) {
  a("step", d.step);
  a("phase", d.phase);
  a("tensor", d.tensor);
  a("rank", d.rank);
  a("element", d.element);
  a("reference_value", d.reference_value);
  a("value", d.value);
  a("ulp", d.ulp);
  a("differing_elements", d.differing_elements);
  a("sentence", d.sentence);
}

template <class Archive, class Volume_>
void volume_fields(Archive&& a, Volume_& v) {
  a("calls", v.calls);
  a("sent_intra_bytes", v.sent_intra);
  a("sent_inter_bytes", v.sent_inter);
  a("received_intra_bytes", v.received_intra);
  a("received_inter_bytes", v.received_inter);
}

template <class Archive, class Record>
void collective_fields(Archive&& a, Record& r) {
  a("sequence", r.sequence);
  a.enumerator("operation", r.op, kCollectiveOpCount);
  a.enumerator("dtype", r.dtype, 9);
  a("count", r.count);
  a("group_size", r.group_size);
  a("group", r.group);
  a.enumerator("traffic", r.traffic, kTrafficCount);
  a("phase", r.phase);
  a("what", r.what);
  a("detail", r.detail);
  a("sent_to", r.sent_to);
  a("received_from", r.received_from);
  a("start_ns", r.start_ns);
  a("end_ns", r.end_ns);
  a("nominal", r.nominal);
}

template <class Archive, class Event_>
void memory_event_fields(Archive&& a, Event_& e) {
  a("name", e.name);
  a.enumerator("category", e.category, kCategoryCount);
  a("bytes", e.bytes);
  a("total_bytes", e.total_bytes);
  a("moment", e.moment);
  a("time_ns", e.time_ns);
}

template <class Archive, class Moment>
void moment_fields(Archive&& a, Moment& m) {
  a("name", m.name);
  a("first_event", m.first_event);
}

}  // namespace zerolab
