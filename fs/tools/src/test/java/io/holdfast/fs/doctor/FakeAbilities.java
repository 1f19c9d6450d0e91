package io.holdfast.fs.doctor;

/** The rights of a process as a test sets them; all rights at first. */
final class FakeAbilities implements Abilities {
  Device device = Device.USABLE;
  boolean mayMount = true;
  boolean fusermount = true;
  boolean libfuse = true;
  boolean userAllowOther = true;

  @Override
  public Device device() {
    return device;
  }

  @Override
  public boolean mayMount() {
    return mayMount;
  }

  @Override
  public boolean hasFusermount() {
    return fusermount;
  }

  @Override
  public boolean hasLibfuse() {
    return libfuse;
  }

  @Override
  public String libfuseInstallation() {
    return "'apt install libfuse2'";
  }

  @Override
  public boolean userAllowOther() {
    return userAllowOther;
  }
}
